from typing import Any

import pytest

from constructs_pd.planning.owned import ENVIRONMENT
from constructs_pd.planning.rules.pd109_owned_environment import RULE
from support.rules import findings_of


@pytest.mark.parametrize("path", ["head", "prefill", "decode"])
def test_accepts_variables_that_are_free(path: str) -> None:
    assert findings_of(RULE, {f"{path}.pod": {"environment": {"VLLM_LOGGING_LEVEL": "DEBUG"}}}) == []


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_refuses_each_variable_that_has_its_own_place_or_does_harm(name: str) -> None:
    (finding,) = findings_of(RULE, {"decode.pod": {"environment": {name: "1"}}})
    assert finding.subject == f"decode.pod.environment.{name}"
    assert finding.remedy == ENVIRONMENT[name]


def test_refuses_it_from_a_secret_as_well() -> None:
    reference = {"secret_name": "s"}
    (finding,) = findings_of(RULE, {"head.pod": {"secret_environment": {"REDIS_PASSWORD": reference}}})
    assert finding.subject == "head.pod.secret_environment.REDIS_PASSWORD"
    assert "gcs_fault_tolerance" in finding.remedy


def test_only_one_setting_of_the_allocator_is_refused() -> None:
    def allocator(value: str) -> dict[str, Any]:
        return {"decode.pod": {"environment": {"PYTORCH_CUDA_ALLOC_CONF": value}}}

    assert findings_of(RULE, allocator("max_split_size_mb:128")) == []
    (finding,) = findings_of(RULE, allocator("max_split_size_mb:128,expandable_segments:True"))
    assert finding.subject == "decode.pod.environment.PYTORCH_CUDA_ALLOC_CONF"
