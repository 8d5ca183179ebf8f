"""When so many engines are enough: the targets are met, no part is too busy, and PD227 has nothing to say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.facts import gather
from constructs_pd.planning.hand_over import sustained
from constructs_pd.planning.performance.acceptance import Acceptance
from constructs_pd.planning.performance.latency import Latency
from constructs_pd.planning.performance.targets import Targets
from constructs_pd.planning.rules.pd227_hand_over_time import RULE
from support.specs import spec_with

CATALOG = load_catalog()
NODE = {"model.source": "Qwen/Qwen3-8B", "model.max_model_len": 8192}
FOUND = Latency(0.1, 0.1, 0.2, 0.02, 0.03, "decode", 0.81)


@pytest.mark.parametrize(
    ("targets", "busy", "is_met"),
    [
        (Targets(), 0.8, True),
        (Targets(), 0.81, False),
        (Targets(itl_p95_seconds=0.03), 0.8, True),
        (Targets(itl_p95_seconds=0.03), 0.81, False),
        (Targets(itl_p95_seconds=0.02), 0.5, False),
        (Targets(ttft_p95_seconds=0.2), 0.99, True),
        (Targets(ttft_p50_seconds=0.2), 0.99, True),
        (Targets(ttft_p95_seconds=0.1), 0.5, False),
    ],
)
def test_no_part_is_too_busy_where_nothing_is_promised_of_the_first_token(
    targets: Targets, busy: float, is_met: bool
) -> None:
    assert Acceptance(targets).is_met(replace(FOUND, utilization=busy)) == is_met


@pytest.mark.parametrize(
    ("types", "traffic", "reason"),
    [
        (("p5.48xlarge", "p5.48xlarge"), (500.0, 2000), "decode posts reads for"),
        (("g6.8xlarge", "g6.8xlarge"), (30.0, 2000), "the hand-over takes"),
        (("p5.48xlarge", "g6e.8xlarge"), (30.0, 3000), "the hand-over takes"),
        (("g6e.8xlarge", "p5.48xlarge"), (30.0, 3000), "the hand-over takes"),
    ],
)
def test_numbers_are_carried_exactly_where_the_rule_is_quiet(
    types: tuple[str, str], traffic: tuple[float, int], reason: str
) -> None:
    stated = {"requests_per_second": traffic[0], "prompt_tokens": traffic[1], "output_tokens": 100}
    changes: dict[str, Any] = {**NODE, "prefill.instance_type": types[0], "decode.instance_type": types[1]}
    one = gather(spec_with({**changes, "traffic": stated}), CATALOG)
    assert one.spec.traffic
    asked = Acceptance(Targets(), sustained(one, one.spec.traffic))
    said = 0
    for prefill, decode in ((1, 1), (2, 3), (4, 4), (3, 8), (8, 8), (8, 16), (30, 40), (90, 90)):
        numbers = {"prefill.replicas": prefill, "decode.replicas": decode}
        facts = gather(spec_with({**changes, **numbers, "traffic": stated}), CATALOG)
        assert facts.spec.traffic
        found = sustained(facts, facts.spec.traffic)
        assert found
        rates = [each for each in RULE.findings(facts) if each.subject == "traffic.requests_per_second"]
        assert asked.is_carried(prefill, decode) == (not rates and not found.is_beyond_limits)
        said += any(reason in each for each in asked.much(prefill, decode))
    assert 0 < said < 8


def test_without_a_hand_over_that_is_known_nothing_is_much() -> None:
    assert Acceptance(Targets()).is_carried(1, 1)
