from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest

from constructs_pd import Severity
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.catalog.rows import DefectCondition, KnownDefectRow
from constructs_pd.planning.defects import CONDITIONS
from constructs_pd.planning.facts import Facts, gather
from constructs_pd.planning.rules.pd412_known_defects import RULE
from support.rules import findings_of
from support.specs import IMAGE_ROW, spec_with

CATALOG = load_catalog()
PLAIN, WINDOWS, LATENT = "Qwen/Qwen3-8B", "openai/gpt-oss-20b", "deepseek-ai/DeepSeek-R1"
PREFIXES = {"enable_prefix_caching": True}
MTP = {"speculative_config": {"method": "mtp", "num_speculative_tokens": 1}}


def ids(changes: dict[str, Any] | None = None) -> set[str | None]:
    return {finding.defect for finding in findings_of(RULE, changes)}


def image(**versions: str) -> dict[str, Any]:
    return {"image": {"tag": "own-1.0.0"}, "custom_images": [{**IMAGE_ROW, **versions}]}


def sized(source: str, prefill: int = 1, decode: int = 1, **arguments: Any) -> dict[str, Any]:
    sides = {"prefill": prefill, "decode": decode}
    return {
        "model": {"source": source},
        **{
            side: {"instance_type": "p5.48xlarge", "tensor_parallel": size, "engine_args": arguments}
            for side, size in sides.items()
        },
    }


def with_row(**changes: Any) -> Facts:
    """Return the reference's facts with one defect in the catalogue: of its vLLM, in every deployment."""
    row = {
        "id": "vllm-1",
        "title": "a title",
        "component": "vllm",
        "first_affected": "0.26.0",
        "first_fixed": None,
        "condition": "always",
        "effect": "an effect",
        "workaround": "a workaround",
        "severity": "warning",
        "source": "a test",
        "date": "2026-11-30",
    }
    known = {"vllm-1": KnownDefectRow.model_validate({**row, **changes})}
    return gather(spec_with(), replace(CATALOG, known_defects=known))


@pytest.mark.parametrize(
    ("first_affected", "first_fixed", "found"),
    [
        ("0.26.0", None, 1),
        ("0.26.1", None, 0),
        ("0.25.9", "0.26.0", 0),
        ("0.25.9", "0.26.1", 1),
        ("0.9.0", "0.100.0", 1),
        ("0.3.0", "0.9.0", 0),
    ],
)
def test_a_range_is_half_open_and_compared_by_numbers(first_affected: str, first_fixed: str | None, found: int) -> None:
    facts = with_row(first_affected=first_affected, first_fixed=first_fixed)
    assert len(list(RULE.findings(facts))) == found


@pytest.mark.parametrize(("component", "version"), [("ray", "2.58.0"), ("nixl", "1.3.1"), ("kuberay", "1.7.0")])
def test_each_component_has_its_version(component: str, version: str) -> None:
    (finding,) = RULE.findings(with_row(component=component, first_affected=version))
    assert finding.message.startswith(f"{component} {version} (no release is known to be without it): a title")
    assert finding.subject == ("kuberay_version" if component == "kuberay" else "image.tag")


def test_a_finding_says_where_it_is_fixed_and_carries_the_id() -> None:
    (finding,) = RULE.findings(with_row(first_fixed="0.27.0"))
    assert finding.message == "vllm 0.26.0 (fixed in 0.27.0): a title; an effect"
    assert (finding.key, finding.remedy, finding.severity) == ("PD412/vllm-1", "a workaround", Severity.WARNING)
    assert finding.render().startswith("PD412/vllm-1 warning image.tag: ")


def test_a_defect_may_be_an_error() -> None:
    (finding,) = RULE.findings(with_row(severity="error"))
    assert finding.severity is Severity.ERROR


def test_unknown_rows_have_no_defects() -> None:
    assert ids({"image.tag": "own-1.0.0"}) == set()
    assert ids({"model.source": "nobody/nothing"}) == set()


def test_of_the_reference_one_is_open() -> None:
    assert ids() == {"vllm-52234"}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (PLAIN, set()),
        (LATENT, set()),
        (WINDOWS, {"vllm-52234"}),
        ("deepseek-ai/DeepSeek-V3.2", {"vllm-52234"}),
        ("Qwen/Qwen3.5-9B", {"vllm-52234"}),
    ],
)
def test_failed_hand_overs_are_answered_where_layers_keep_different_things(source: str, found: set[str]) -> None:
    assert ids(sized(source)) == found


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"speculative_config": {"method": "eagle3", "model": "acme/draft", "num_speculative_tokens": 1}}, True),
        ({"spec_model": "acme/draft"}, True),
        ({"speculative_config": {"method": "ngram", "num_speculative_tokens": 1}}, False),
    ],
)
def test_a_draft_model_has_layers_of_its_own(arguments: dict[str, Any], found: bool) -> None:
    assert ("vllm-52234" in ids(sized(PLAIN, **arguments))) is found


def test_prefix_caching_of_hybrid_models_and_its_fix() -> None:
    arguments = {"prefill.engine_args": PREFIXES, "decode.engine_args": PREFIXES}
    assert "vllm-51113" in ids(arguments)
    assert "vllm-51113" not in ids({**arguments, **image(vllm_version="0.27.0")})
    assert ids(sized(PLAIN, **PREFIXES)) == set()
    assert "vllm-53912" not in ids(arguments)
    both = {**PREFIXES, **MTP}
    assert "vllm-53912" in ids({"prefill.engine_args": both, "decode.engine_args": both})
    assert "vllm-53912" not in ids({"prefill.engine_args": MTP, "decode.engine_args": MTP})


@pytest.mark.parametrize(
    ("version", "found"), [("0.13.0", False), ("0.14.0", True), ("0.25.9", True), ("0.26.0", False)]
)
def test_asynchronous_scheduling_of_hybrid_models(version: str, found: bool) -> None:
    assert ("vllm-37285" in ids(image(vllm_version=version))) is found


@pytest.mark.parametrize(
    ("version", "found"), [("2.32.9", False), ("2.33.0", True), ("2.57.1", True), ("2.58.0", False)]
)
def test_stopping_nodes(version: str, found: bool) -> None:
    assert ("ray-64181" in ids(image(ray_version=version))) is found


def test_unequal_sizes_of_a_model_with_windows() -> None:
    assert "vllm-50765" in ids(sized(WINDOWS, 1, 2))
    assert "vllm-50765" not in ids(sized(WINDOWS, 2, 2))
    assert "vllm-50765" not in ids(sized(PLAIN, 1, 2))


def test_reads_from_several_of_prefills_gpus() -> None:
    assert "vllm-56104" in ids(sized(PLAIN, 4, 2))
    assert "vllm-56104" not in ids(sized(PLAIN, 2, 4))
    assert "vllm-56104" not in ids(sized(LATENT, 4, 2))


def test_flashinfer_with_windows_on_hopper_is_an_error() -> None:
    found = findings_of(RULE, sized(WINDOWS, attention_backend="flashinfer"))
    assert {finding.defect: finding.severity for finding in found}["flashinfer-3578"] is Severity.ERROR
    assert "flashinfer-3578" not in ids(sized(WINDOWS, attention_backend="FLASH_ATTN"))
    assert "flashinfer-3578" not in ids(sized(PLAIN, attention_backend="FLASHINFER"))
    blackwell = {"prefill.instance_type": "p6-b200.48xlarge", "decode.instance_type": "p6-b200.48xlarge"}
    assert "flashinfer-3578" not in ids({**sized(WINDOWS, attention_backend="FLASHINFER"), **blackwell})


@pytest.mark.parametrize(("strategy", "found"), [("none", 0), ("new_cluster", 1)])
def test_a_condition_on_the_upgrade(strategy: str, found: int) -> None:
    facts = gather(spec_with({"upgrade": {"strategy": strategy}}), with_row(condition="new_cluster_upgrade").built_in)
    assert len(list(RULE.findings(facts))) == found


@pytest.mark.parametrize("condition", get_args(DefectCondition))
def test_every_condition_has_a_function_and_a_row(condition: DefectCondition) -> None:
    assert condition in CONDITIONS
    assert condition in {row.condition for row in CATALOG.known_defects.values()}


def test_what_the_planned_hand_over_is_without_never_fires() -> None:
    assert list(RULE.findings(with_row(condition="other_hand_over"))) == []
