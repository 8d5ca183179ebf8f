"""Every key of a specification, misspelled one at a time, is refused where it stands."""

from collections.abc import Iterable
from typing import Any

from constructs_pd.planning.spec_errors import diagnose
from support.keys import key_paths, misspelled, unnoticed
from support.specs import FOUR_GPU_ROW, changed, reference_data

MODEL_ROW = {
    "model": "acme/own-7b",
    "architecture": "LlamaForCausalLM",
    "attention": "full",
    "kv_heads": 8,
    "max_position_embeddings": 8192,
    "gated": False,
    "source": "its config.json",
    "date": "2026-11-29",
}
EVERYTHING = changed(
    reference_data(),
    {
        "custom_instances": [FOUR_GPU_ROW],
        "custom_models": [MODEL_ROW],
        "image": {"tag": "serve-llm-cuda-v1.0.0", "digest": "sha256:" + "0" * 64},
        "prefill.replicas": 2,
        "drain_seconds": 60,
    },
)


def test_what_is_no_mapping_at_all_is_refused() -> None:
    (finding,) = diagnose([]).findings
    assert (finding.code, finding.subject, finding.remedy) == (
        "PD004",
        "the specification",
        "expected: a mapping of fields",
    )


def test_a_number_of_a_custom_row_is_described() -> None:
    wrong = changed(EVERYTHING, {"custom_instances": [{**FOUR_GPU_ROW, "vcpus": "many"}]})
    (finding,) = diagnose(wrong).findings
    assert (finding.subject, finding.remedy) == ("custom_instances.0.vcpus", "expected: virtual CPUs")


def test_the_specification_is_sound_as_it_stands() -> None:
    assert diagnose(EVERYTHING).findings == ()


def test_no_misspelled_key_goes_unnoticed() -> None:
    assert sum(1 for _ in key_paths(EVERYTHING)) > 50

    def check(data: Any) -> Iterable[str]:
        return [finding.subject for finding in diagnose(data).findings if finding.code == "PD002"]

    assert unnoticed(EVERYTHING, check) == []


def test_a_misspelled_key_is_the_only_finding_and_the_rest_is_planned() -> None:
    for path in key_paths(EVERYTHING):
        diagnosis = diagnose(misspelled(EVERYTHING, path))
        assert [finding.code for finding in diagnosis.findings] == ["PD002"], path
        assert diagnosis.spec == diagnose(EVERYTHING).spec, path
