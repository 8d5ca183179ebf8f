from typing import Any

import pytest

from constructs_pd import PlanError
from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd226_hand_over_demand import RULE
from support.rules import findings_of
from support.specs import plan_with

# 86.1 MB a request: 18.1 a second fill a g6.8xlarge as reckoned, 36.3 its whole line rate.
PROMPT = {"prompt_tokens": 800}


def traffic(rate: float, **changes: Any) -> dict[str, Any]:
    return {"traffic": {"requests_per_second": rate, **PROMPT}, **changes}


def plain(rate: float, instance: str = "g6.8xlarge", **changes: Any) -> dict[str, Any]:
    """Return a dense model with phases of one GPU, and traffic: 151 MB a request."""
    phase = {"instance_type": instance, "tensor_parallel": 1, "enforce_eager": True}
    model = {"source": "Qwen/Qwen3-0.6B", "max_model_len": 4096}
    traffic = {"requests_per_second": rate, "prompt_tokens": 1318}
    return {"model": model, "prefill": phase, "decode": phase, "traffic": traffic, **changes}


def test_accepts_no_traffic_and_what_the_link_carries() -> None:
    assert findings_of(RULE) == []
    assert findings_of(RULE, traffic(36)) == []


def test_refuses_more_than_the_link_carries_with_both_numbers() -> None:
    (finding,) = findings_of(RULE, traffic(40))
    assert finding.severity is Severity.ERROR
    assert finding.subject == "traffic.requests_per_second"
    assert finding.message == (
        "40 requests a second of 800 tokens hand over 27.6 Gbit/s, 1 x g6.8xlarge of prefill carry 25.0 at most and "
        "1 x g6.8xlarge of decode carry 25.0 at most; reckoned with are 18.1 requests"
    )


def test_names_the_phase_that_is_short() -> None:
    (finding,) = findings_of(RULE, traffic(40, **{"decode.replicas": 8}))
    assert "of prefill carry 25.0 at most; " in finding.message
    assert "decode" not in finding.message
    assert finding.remedy.startswith("raise prefill.replicas to 4, or ")


@pytest.mark.parametrize("rate", [37, 50, 400])
def test_the_replicas_that_it_names_are_enough(rate: float) -> None:
    (finding,) = findings_of(RULE, traffic(rate))
    named = finding.remedy.partition(", or ")[0].removeprefix("raise ").split(" and ")
    replicas = {field: int(number) for field, number in (part.split(" to ") for part in named)}
    assert findings_of(RULE, traffic(rate, **replicas)) == []
    planned = plan_with(traffic(rate, **replicas))
    assert not {finding.code for finding in planned.findings} & {"PD226", "PD227"}


def test_the_instances_that_it_names_are_enough() -> None:
    (finding,) = findings_of(RULE, plain(22))
    assert ", or choose g6.12xlarge for both phases, or " not in finding.remedy  # 20 Gbit/s are not enough either
    named = next(part for part in finding.remedy.split(", or ") if part.startswith("choose "))
    assert named == "choose p5.4xlarge for both phases"
    assert findings_of(RULE, plain(22, "p5.4xlarge")) == []


def test_an_instance_on_which_the_model_does_not_fit_is_not_named() -> None:
    (finding,) = findings_of(RULE, traffic(40))
    named = next(part for part in finding.remedy.split(", or ") if part.startswith("choose "))
    other = {f"{phase}.instance_type": named.split()[1] for phase in ("prefill", "decode")}
    assert plan_with(traffic(40, **other)).hand_over is not None


def test_fp8_is_named_where_it_is_enough() -> None:
    (little,) = findings_of(RULE, plain(22))
    assert "set model.kv_cache_dtype to fp8" in little.remedy
    assert findings_of(RULE, plain(22, **{"model.kv_cache_dtype": "fp8"})) == []
    (much,) = findings_of(RULE, plain(48))
    assert "fp8" not in much.remedy
    (already,) = findings_of(RULE, plain(48, **{"model.kv_cache_dtype": "fp8"}))
    assert "fp8" not in already.remedy
    (old,) = findings_of(RULE, plain(22, "g5.8xlarge"))
    assert "fp8" not in old.remedy


def test_what_no_deployment_carries_still_has_a_remedy() -> None:
    (finding,) = findings_of(RULE, traffic(1_000_000))
    assert finding.remedy == "state less traffic"


def test_leaves_what_is_not_known_to_its_own_rules() -> None:
    assert findings_of(RULE, traffic(1e6, **{"model.source": "nobody/nothing"})) == []
    assert findings_of(RULE, traffic(1e6, **{"decode.instance_type": "x"})) == []


def test_stops_the_plan() -> None:
    with pytest.raises(PlanError) as caught:
        plan_with(traffic(40))
    assert [finding.code for finding in caught.value.findings if finding.severity is Severity.ERROR] == ["PD226"]
