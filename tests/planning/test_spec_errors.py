"""Every key of a specification, misspelled one at a time, is refused where it stands."""

from typing import Any

import pytest

from constructs_pd import PlanError, parse_spec
from constructs_pd.planning.spec_errors import diagnose
from support.keys import key_paths, misspelled
from support.specs import FOUR_GPU_ROW, MODEL_ROW, VARIANTS, changed, reference_data

# Maps whose keys are the user's own; engine_args has a rule (PD108).
FREE = {
    "annotations",
    "engine_args",
    "environment",
    "labels",
    "pod_labels",
    "node_selector",
    "secret_environment",
    "service_account_annotations",
}
EVERYTHING = changed(
    reference_data(),
    {
        "custom_instances": [FOUR_GPU_ROW],
        "custom_models": [MODEL_ROW],
        **VARIANTS["every-option"],
        "image": {"tag": "serve-llm-cuda-v1.0.0", "digest": "sha256:" + "0" * 64},
        "drain_seconds": 660,
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


def fixed_keys() -> list[tuple[Any, ...]]:
    return [path for path in key_paths(EVERYTHING) if len(path) < 2 or path[-2] not in FREE]


def test_every_misspelled_key_is_the_only_finding_and_the_rest_is_planned() -> None:
    sound = diagnose(EVERYTHING).spec
    assert len(fixed_keys()) > 80
    for path in fixed_keys():
        diagnosis = diagnose(misspelled(EVERYTHING, path))
        assert [finding.code for finding in diagnosis.findings] == ["PD002"], path
        assert diagnosis.spec == sound, path


def test_values_of_ones_own_are_refused_like_a_file_and_may_be_tuples() -> None:
    values = {**reference_data(), "head": {"tolerations": ({"kay": "dedicated"},)}}
    with pytest.raises(PlanError) as caught:
        parse_spec(values)
    assert [(finding.code, finding.subject) for finding in caught.value.findings] == [
        ("PD002", "head.tolerations.0.kay")
    ]
    values["head"] = {"tolerations": ({"key": "dedicated"},)}
    assert parse_spec(values).head.tolerations[0].key == "dedicated"
