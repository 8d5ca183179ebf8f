"""README and guide pages say only what is true: snippets run, made pages are fresh, links and commands exist."""

from __future__ import annotations

import json
import re
import shlex
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml
from pytest_examples import CodeExample, EvalExample, find_examples

from constructs_pd import _HOMES, ModelConfigError, ModelSpec, PlanError, load_spec, plan, plan_file
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.spec import DeploymentSpec
from constructs_pd.planning.spec_pods import Phase
from support.command_line import command
from support.model_configs import LLAMA, with_fields
from support.processes import python
from support.published_models import published_config, published_models
from support.specs import ROOT, changed, reference_data
from tools.pages import PAGES as MADE

README = ROOT / "README.md"
GUIDES = sorted((ROOT / "docs").glob("*.md"))
PAGES = [README, ROOT / "CONTRIBUTING.md", *GUIDES]
TEXT = README.read_text(encoding="utf-8")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


SPECIFICATION = next(block for block in blocks(README, "yaml") if block.startswith("name:"))
# A snippet with a setting needs an endpoint: tests/rehearsal runs it.
EXAMPLES = [each for each in find_examples(str(README), str(ROOT / "docs")) if not each.prefix_settings()]


def snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z][a-z])", "_", name).lower()


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_python_snippets_run_and_print_what_they_say(
    example: CodeExample, eval_example: EvalExample, tmp_path: Path
) -> None:
    (tmp_path / "spec.yaml").write_text(SPECIFICATION, encoding="utf-8")
    (tmp_path / "snippet.py").write_text(example.source, encoding="utf-8")
    eval_example.set_config(quotes="double", ruff_ignore=["D100", "D101", "D102", "I001", "T201"])
    eval_example.lint_ruff(example)
    # In a process of its own: Node keeps the folder in which it started, and writes manifests there.
    done = python("snippet.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == re.findall(r"^ *#> (.*)$", example.source, re.MULTILINE)


def test_every_construct_has_a_guide_page_with_a_snippet() -> None:
    assert len(EXAMPLES) == 16
    public = [*_HOMES["k8s"], *_HOMES["aws"]]
    guides = {page.stem for page in GUIDES if blocks(page, "py")} - {"hand_over", "models"}
    assert guides == {snake_case(name) for name in public if not name.startswith("Existing")}


def test_the_error_message_is_the_real_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bad = SPECIFICATION.replace("us-west-2a ", "us-east-1a ").replace("replicas: 3", "replica: 3")
    Path("my.yaml").write_text(bad.replace("p5.48xlarge", "p5.48large", 1), encoding="utf-8")
    with pytest.raises(PlanError) as caught:
        plan_file("my.yaml")
    (message,) = blocks(README, "text")
    assert str(caught.value).splitlines()[: len(message.splitlines())] == message.splitlines()


@pytest.mark.parametrize(
    "page",
    [README, *(ROOT / "docs" / f"{name}.md" for name in ("models", "gateway", "exposure", "dashboards"))],
    ids=lambda page: page.stem,
)
def test_every_other_yaml_snippet_is_a_part_of_a_specification(page: Path, tmp_path: Path) -> None:
    parts = [block for block in blocks(page, "yaml") if block != SPECIFICATION]
    assert parts
    for block in parts:
        path = tmp_path / "spec.yaml"
        path.write_text(SPECIFICATION + block, encoding="utf-8")
        assert yaml.safe_load(block)
        plan_file(path)


def test_the_traffic_of_the_example_is_the_one_in_yaml() -> None:
    page = ROOT / "docs" / "hand_over.md"
    (block,), (code,) = blocks(page, "yaml"), blocks(page, "py")
    traffic = yaml.safe_load(block)["traffic"]
    assert f"traffic=Traffic({', '.join(f'{name}={value}' for name, value in traffic.items())})" in code


@pytest.mark.parametrize("page", ["prefill_decode_service.md", "eks_gpu_node_groups.md"])
def test_the_example_of_a_phase_is_one(page: str) -> None:
    (block,) = blocks(ROOT / "docs" / page, "yaml")
    decode = yaml.safe_load(block)["decode_example"]
    assert Phase.model_validate(decode).model_fields_set == decode.keys()
    prefill = {"instance_type": "p5.48xlarge"}
    plan(DeploymentSpec.model_validate(changed(reference_data(), {"decode": decode, "prefill": prefill})))


@pytest.mark.parametrize("page", [README, ROOT / "docs" / "command_line.md"], ids=lambda page: page.stem)
def test_commands_print_what_they_say(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`...` on a line of its own stands for any lines."""
    monkeypatch.chdir(ROOT)
    shown = [part for block in blocks(page, "console") for part in block.removeprefix("$ ").split("\n$ ")]
    assert shown
    for part in shown:
        line, _, text = part.partition("\n")
        program, *arguments = shlex.split(line)
        done = command(*arguments)
        assert program == "constructs-pd"
        pattern = re.escape(f"\n{text.rstrip()}\n").replace(re.escape("\n...\n"), "\n(?s:.*)")
        assert re.fullmatch(pattern, f"\n{done.out.rstrip()}{done.err.rstrip()}\n"), line


# It lists the format of each of its 22,422 converted modules.
TOO_LONG = "nvidia/MiniMax-M3-NVFP4"
CONFIGS: dict[str, dict[str, Any] | None] = {
    "of an architecture that is not known": {"architectures": ["BertModel"]},
    "of a kind of attention that is not counted": {"architectures": ["KimiLinearForCausalLM"]},
    "truncated, or no JSON": None,
    "without a field that matters": {"vocab_size": None},
    "with zero, a negative or an absurd number": {"num_hidden_layers": 0},
    "with sizes that do not divide": {"num_attention_heads": 32, "num_key_value_heads": 7},
    "in a quantization that is not known": {"quantization_config": {"quant_method": "bitsandbytes"}},
}


def test_a_config_that_is_refused_is_refused_in_these_words(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    stated = dict(re.findall(r"^\| (.+) \| `(.+)` \|$", page, re.MULTILINE))
    assert stated.keys() == CONFIGS.keys()
    path = tmp_path / "config.json"
    for case, fields in CONFIGS.items():
        path.write_text("{" if fields is None else json.dumps(with_fields(LLAMA, **fields)), encoding="utf-8")
        with pytest.raises(ModelConfigError) as caught:
            ModelSpec.from_config_json(path)
        assert str(caught.value) == stated[case]


@pytest.mark.parametrize("model", [model for model in published_models()[::5] if model != TOO_LONG])
def test_a_config_can_be_pasted_into_a_specification(model: str, tmp_path: Path) -> None:
    config = published_config(model)
    row = {"model": "acme/own", "gated": False, "source": "its config.json", "date": "2026-11-30"}
    written = tmp_path / "config.json"
    written.write_text(json.dumps(config, indent=2), encoding="utf-8")
    pasted = (
        f'custom_models:\n  - {json.dumps(row)[:-1]}, "config":\n{textwrap.indent(written.read_text(), "      ")}}}\n'
    )
    path = tmp_path / "spec.yaml"
    path.write_text(SPECIFICATION + pasted, encoding="utf-8")
    try:
        facts = ModelSpec.from_config_json(written).facts
    except ModelConfigError as error:
        with pytest.raises(PlanError, match=re.escape(error.found)):
            load_spec(path)
    else:
        assert load_spec(path).custom_models[0].facts == facts


def test_pages_made_from_data_are_fresh() -> None:
    assert set(MADE) == {page.name for page in GUIDES if page.read_text(encoding="utf-8").startswith("<!-- Written by")}
    for name, page in MADE.items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == page(), f"run `make pages` ({name})"


def cost_rows() -> list[list[str]]:
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    table = page.split("| an hour | source |\n")[1].split("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[1:]]


def test_the_cost_is_the_sum_of_its_parts() -> None:
    *parts, (name, _, _, total, read) = cost_rows()
    assert (name, len(parts)) == ("all", 9)
    for what, count, each, product, source in parts:
        assert float(product) == pytest.approx(int(count) * float(each), abs=5e-5), what
        assert len(source) > 20
    assert float(total) == pytest.approx(sum(float(product) for _, _, _, product, _ in parts), abs=0.005)
    assert f"costs {total} US dollars an hour" in TEXT
    assert read.removeprefix("read on ") in TEXT


def test_the_cost_is_of_what_the_reference_deployment_makes() -> None:
    planned = plan_file(ROOT / "apps" / "reference.yaml")
    assert planned.eks_cluster is not None
    groups = [phase.nodes for phase in planned.phases]
    system, network = planned.eks_cluster.system_nodes, planned.eks_cluster.network
    counted = {name: int(count) for name, count, *_ in cost_rows()[:-1]}
    disks = [(group.root_volume, group.desired_nodes) for group in groups] + [(system.root_volume, system.count)]
    gateways = sum(zone.has_nat_gateway for zone in network.zones)
    assert counted == {
        groups[0].instance_type: sum(group.desired_nodes for group in groups),
        system.instance_type: system.count,
        "EKS cluster, standard support": 1,
        "NAT gateway": gateways,
        "public IPv4 address": gateways,
        "internal load balancer": 1,
        "gp3, GiB": sum(disk.size_gib * count for disk, count in disks),
        "gp3, MiB/s above 125": sum((disk.throughput_mib_per_second - 125) * count for disk, count in disks),
        "KMS key": 1,
    }
    catalog = load_catalog()
    vcpus = sum(catalog.instances[group.instance_type].vcpus * group.desired_nodes for group in groups)
    assert f"a quota of {vcpus} vCPUs" in " ".join(TEXT.split())


def test_every_make_target_they_name_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {
        target
        for page in PAGES
        for target in re.findall(r"(?:`|^)make ([a-z][a-z-]*)", page.read_text("utf-8"), re.MULTILINE)
    }
    assert {"synth", "test", "pages"} <= targets
    assert targets <= set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))


def test_every_relative_link_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https:)([^)]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_code_that_they_name_exists() -> None:
    known = set(re.findall(r"PD\d{3}", (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")))
    for page in PAGES:
        assert set(re.findall(r"PD\d{3}", page.read_text(encoding="utf-8"))) <= known, page.name
