"""`make synth` with bad input: one message, exit status 1, no stack of any language, and both outputs untouched."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from support.processes import ROOT, python
from support.specs import REFERENCE_FILE

REFERENCE = REFERENCE_FILE.read_text(encoding="utf-8")
RESULTS = ("dist", "cdk.out")
LONG = "q" * 48
TOKEN = "hf_0123456789abcdefghijklmnop"

BAD: dict[str, tuple[list[tuple[str, str]], list[str]]] = {
    "misspelled field": ([("max_model_len:", "max_model_length:")], ["PD002 error model.max_model_length"]),
    "misspelled required field": ([("prefill:", "prefil:")], ["PD002 error prefil"]),
    "unknown instance": ([("g6.8xlarge\n", "g6.9xlarge\n")], ["PD201 error prefill.instance_type"]),
    "unknown image tag": (
        [("kubernetes_version:", "image: {tag: serve-llm-cuda}\nkubernetes_version:")],
        ["PD401 error image.tag"],
    ),
    "name too long": ([("name: qwen35-9b", f"name: {LONG}")], ["PD101 error name: 48 characters", "at most 47"]),
    "literal token": (
        [("  secret_name: hugging-face\n  key: token", f"  {TOKEN}")],
        ["PD005 error hugging_face_token"],
    ),
    "two mistakes": (
        [("name: qwen35-9b", f"name: {LONG}"), ("us-west-2a", "us-east-1a")],
        ["2 errors", "PD101 error name", "PD103 error availability_zone"],
    ),
    "form and content": (
        [("claim_name:", "claim:"), ("source: Qwen/Qwen3.5-9B", "source: Qwen/Qwen4")],
        ["2 errors", "PD002 error model_cache.claim", "PD205 error model.source"],
    ),
    "not YAML": ([("model:\n", "model: [\n")], ["PD001 error the file: is not YAML"]),
}


def keep_results(folder: Path) -> None:
    """Write what an earlier run could have left."""
    for name in RESULTS:
        (folder / name).mkdir()
        (folder / name / "precious").write_text("as it was", encoding="utf-8")


def assert_kept(folder: Path) -> None:
    for name in RESULTS:
        assert [(file.name, file.read_text()) for file in (folder / name).iterdir()] == [("precious", "as it was")]


@pytest.mark.parametrize(("replacements", "expected"), BAD.values(), ids=BAD)
def test_bad_input(tmp_path: Path, replacements: list[tuple[str, str]], expected: list[str]) -> None:
    text = REFERENCE
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new, 1)
    specification = tmp_path / "spec.yaml"
    specification.write_text(text, encoding="utf-8")
    keep_results(tmp_path)

    done = python("tools/synth.py", str(specification), "--output", str(tmp_path))

    assert done.returncode == 1
    assert done.stdout == ""
    for text in expected:
        assert text in done.stderr
    for stack in ("Traceback", 'File "', "    at ", "node:", TOKEN[3:]):
        assert stack not in done.stderr
    assert_kept(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cdk.out", "dist", "spec.yaml"]


def test_a_missing_file(tmp_path: Path) -> None:
    done = python("tools/synth.py", "nowhere.yaml", "--output", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("1 error, nothing was written.\nnowhere.yaml: PD001 error the file: cannot be read")


@pytest.mark.parametrize("app", ["apps/k8s_app.py", "apps/aws_app.py"])
def test_an_app_alone_refuses_in_the_same_way(app: str, tmp_path: Path) -> None:
    specification = tmp_path / "spec.yaml"
    specification.write_text(REFERENCE.replace("name: qwen35-9b", f"name: {LONG}"), encoding="utf-8")
    done = python(
        app,
        CONSTRUCTS_PD_SPEC=str(specification),
        CDK8S_OUTDIR=str(tmp_path / "dist"),
        CDK_OUTDIR=str(tmp_path / "cdk.out"),
    )
    assert done.returncode == 1
    assert "PD101 error name" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["spec.yaml"]


def test_a_new_result_replaces_the_old_one_whole(tmp_path: Path) -> None:
    keep_results(tmp_path)
    done = python("tools/synth.py", str(REFERENCE_FILE), "--output", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert [file.name for file in (tmp_path / "dist").iterdir()] == ["qwen35-9b.k8s.yaml"]
    assert (tmp_path / "cdk.out" / "qwen35-9b-gpu-nodes.template.json").is_file()
    assert not (tmp_path / "cdk.out" / "precious").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cdk.out", "dist"]


def test_open_warnings_are_printed_and_do_not_stop_it(tmp_path: Path) -> None:
    specification = tmp_path / "spec.yaml"
    specification.write_text(REFERENCE.split("acknowledge:")[0], encoding="utf-8")
    done = python("tools/synth.py", str(specification), "--output", str(tmp_path / "new"))
    assert done.returncode == 0
    assert done.stderr.count("PD206 warning") == 2
    assert (tmp_path / "new" / "dist" / "qwen35-9b.k8s.yaml").is_file()


def test_a_failure_of_a_cli_leaves_both_results_alone(tmp_path: Path) -> None:
    keep_results(tmp_path)
    done = python("tools/synth.py", str(REFERENCE_FILE), "--output", str(tmp_path), JSII_NODE=str(tmp_path / "no-node"))
    assert done.returncode == 1
    assert done.stderr
    assert_kept(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cdk.out", "dist"]


@pytest.fixture
def synth() -> dict[str, Any]:
    module = runpy.run_path(str(ROOT / "tools" / "synth.py"))
    names: dict[str, Any] = module["main"].__globals__
    return names


def test_a_version_without_its_kubectl_is_told_by_the_app_without_a_stack(tmp_path: Path) -> None:
    specification = tmp_path / "spec.yaml"
    specification.write_text(REFERENCE.replace('"1.35"', '"1.34"'), encoding="utf-8")
    keep_results(tmp_path)
    done = python("tools/synth.py", str(specification), "--output", str(tmp_path))
    assert done.returncode == 1
    assert "PD517 error qwen35-9b-cluster/cluster: the cluster is of 1.34" in done.stderr
    assert "pip install aws-cdk.lambda-layer-kubectl-v34" in done.stderr
    for stack in ("Traceback", 'File "', "    at ", "Unknown option"):
        assert stack not in done.stderr
    assert_kept(tmp_path)


def test_a_failure_of_the_second_half_leaves_both_results_alone(
    synth: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_results(tmp_path)
    monkeypatch.setitem(synth, "_template", lambda *_: False)
    monkeypatch.setattr(sys, "argv", ["synth.py", str(REFERENCE_FILE), "--output", str(tmp_path)])
    assert synth["main"]() == 1
    assert_kept(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cdk.out", "dist"]


@pytest.mark.parametrize("results", [True, False])
def test_a_swap_that_stops_half_way_is_taken_back(
    synth: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, results: bool
) -> None:
    if results:
        keep_results(tmp_path)
    fresh, replaced = tmp_path / "work" / "fresh", tmp_path / "work" / "replaced"
    replaced.mkdir(parents=True)
    for name in RESULTS:
        (fresh / name).mkdir(parents=True)
    rename = Path.rename

    def refuse(path: Path, target: Path) -> Path:
        if path == fresh / "dist":  # the second of the two
            raise PermissionError("the disk says no")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(PermissionError):
        synth["_swap"](fresh, tmp_path, replaced)
    if results:
        assert_kept(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [*(sorted(RESULTS) if results else []), "work"]


def test_no_arguments_is_a_usage_error() -> None:
    done = python("tools/synth.py")
    assert done.returncode == 2
    assert "usage:" in done.stderr


def test_the_makefile_runs_it() -> None:
    assert 'python tools/synth.py "$(SPEC)"' in (ROOT / "Makefile").read_text(encoding="utf-8")
