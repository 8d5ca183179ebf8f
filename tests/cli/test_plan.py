"""`constructs-pd plan`: the plan side by side, with the memory that it works out and what is found."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from constructs_pd import DeploymentPlan, Finding, PlanError, plan_file
from constructs_pd.findings import render
from support.command_line import command
from support.snapshots import TextFile
from support.specs import MODEL_ROW, REFERENCE_FILE, ROOT, changed, reference_data

REFERENCE = str(REFERENCE_FILE.relative_to(ROOT))
BAD = ROOT / "tests" / "data" / "bad_specs"


@pytest.fixture(autouse=True)
def _from_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def rows(text: str) -> dict[str, list[str]]:
    """Return the cells of every line by its first one."""
    cells = [[cell.strip() for cell in line.strip().split("  ") if cell.strip()] for line in text.splitlines()]
    return {line[0]: line[1:] for line in cells if line}


def written(folder: Path, changes: dict[str, Any]) -> str:
    path = folder / "spec.yaml"
    path.write_text(yaml.safe_dump(changed(reference_data(), changes), sort_keys=False), encoding="utf-8")
    return str(path)


def test_the_reference_as_people_read_it(snapshot: SnapshotAssertion, reference_plan: DeploymentPlan) -> None:
    done = command("plan", REFERENCE)
    assert (done.status, done.err) == (0, "")
    shown = rows(done.out)
    prefill = reference_plan.prefill
    assert shown["nodes"] == ["1 x g6.8xlarge"] * 2
    assert shown["CPU of a pod"] == [f"{prefill.cpu_cores} cores"] * 2
    assert shown["longest context"] == ["1,024 tokens"] * 2
    assert prefill.memory is not None
    assert shown["tokens in all"] == [f"{prefill.memory.kv_cache_tokens:,}"] * 2
    assert shown["endpoint"] == [reference_plan.endpoint.url]
    assert shown["image"] == [reference_plan.image]
    assert done.out == snapshot.use_extension(TextFile)


def test_the_memory_adds_up_as_it_is_shown() -> None:
    shown = rows(command("plan", REFERENCE).out)
    names = ("usable by vLLM", "weights", "activations", "libraries, CUDA graphs", "KV cache")

    def gib(name: str) -> float:
        """A sign may stand in a cell of its own."""
        return float(" ".join(shown[name]).replace("-", "").replace("=", "").split()[0])

    usable, *taken, kv_cache = (gib(name) for name in names)
    assert kv_cache == pytest.approx(usable - sum(taken), abs=0.03)


def test_open_warnings_are_printed_as_the_synth_prints_them_and_acknowledged_ones_with_their_reason() -> None:
    done = command("plan", REFERENCE)
    findings = plan_file(REFERENCE).findings
    assert "2 warnings, 4 more acknowledged" in done.out
    assert render(findings) in done.out
    reasons = {finding.acknowledged for finding in findings if finding.acknowledged}
    assert len(reasons) == 3
    assert all(reason in done.out for reason in reasons)
    assert "PD206 acknowledged (2 times): AWS's own sample" in done.out


def test_a_plan_without_warnings_says_so(tmp_path: Path) -> None:
    rows_of_phase = {"instance_type": "p5.48xlarge", "replicas": 2}
    spec = {"model": {"source": "Qwen/Qwen3-8B"}, "prefill": rows_of_phase, "decode": rows_of_phase}
    done = command("plan", written(tmp_path, {**spec, "head": {"node_selector": {"pool": "cpu"}}, "acknowledge": None}))
    findings = plan_file(tmp_path / "spec.yaml").findings
    assert f"{len(findings)} warning" in done.out


def test_what_is_not_known_of_the_memory_is_said_and_not_guessed(tmp_path: Path) -> None:
    changes = {"model.source": MODEL_ROW["model"], "custom_models": [MODEL_ROW]}
    done = command("plan", written(tmp_path, changes))
    assert rows(done.out)["usable by vLLM"] == ["not known (PD225)"] * 2
    assert "PD225 warning" in done.out


def test_what_is_stated_of_an_engine_is_shown(tmp_path: Path) -> None:
    done = command("plan", written(tmp_path, {"decode.max_num_seqs": 2, "prefill.replicas": 2, "prefill.max_nodes": 3}))
    shown = rows(done.out)
    assert shown["sequences at once"] == ["vLLM's default", "2"]
    assert shown["nodes"] == ["2 x g6.8xlarge", "1 x g6.8xlarge"]
    assert shown["fewest to most nodes"] == ["2 to 3", "1 to 1"]


def test_errors_go_to_standard_error_and_nothing_else_is_printed() -> None:
    path = str(BAD / "five-mistakes.yaml")
    done = command("plan", path)
    with pytest.raises(PlanError) as caught:
        plan_file(path)
    assert (done.status, done.out, done.err) == (1, "", f"{caught.value}\n")


def test_json_holds_the_plan_and_every_finding() -> None:
    done = command("plan", "--json", REFERENCE)
    data = json.loads(done.out)
    planned = plan_file(REFERENCE)
    assert (done.status, done.err, data.keys()) == (0, "", {"plan", "findings"})
    assert data["findings"] == [asdict(finding) for finding in planned.findings]
    assert DeploymentPlan.model_validate_json(json.dumps({**data["plan"], "findings": data["findings"]})) == planned


@pytest.mark.parametrize("path", sorted(BAD.glob("*.yaml"))[::10], ids=lambda path: path.stem)
def test_json_of_errors_is_the_same_list(path: Path) -> None:
    done = command("plan", str(path), "--json")
    data = json.loads(done.out)
    with pytest.raises(PlanError) as caught:
        plan_file(path)
    assert (done.status, done.err, data["plan"]) == (1, "", None)
    assert tuple(Finding(**finding) for finding in data["findings"]) == caught.value.findings


def test_json_has_no_nan(tmp_path: Path) -> None:
    done = command("plan", "--json", written(tmp_path, {"prefill.engine_args": {"chat_template": float("nan")}}))
    assert "PD004" in {finding["code"] for finding in json.loads(done.out)["findings"]}
    assert "NaN" not in done.out
