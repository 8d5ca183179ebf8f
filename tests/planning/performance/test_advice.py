"""What decides, and what is said of it."""

from __future__ import annotations

import re
from math import inf

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.performance.advice import TOO_LARGE, Verdict, advise
from constructs_pd.planning.performance.disaggregated import Disaggregated, HandOver
from constructs_pd.planning.performance.latency import Latency, Requests, saturated
from constructs_pd.planning.performance.roofline import Engine
from constructs_pd.planning.performance.targets import Targets
from constructs_pd.planning.performance.work import work_of

CATALOG = load_catalog()
OF = Requests(2000, 0, 200, 0.0)


def phases(prefill: int = 1, decode: int = 1, posting: float = 0.0) -> Disaggregated:
    facts = CATALOG.models["Qwen/Qwen3-8B"].facts
    assert facts is not None
    speed = CATALOG.engine_speed["0.26.0"]
    one = Engine(work_of(facts, 1, "9.0"), CATALOG.gpu_speed["H100 81920"], speed, 1, 8192, 256)
    return Disaggregated(one, one, prefill, decode, HandOver(0.003, posting, 0.01, 0.01, 0.01))


class Fixed:
    """Serves up to a rate, always as quickly."""

    def __init__(self, ttft: float, itl: float, most: float = inf) -> None:
        self.found = Latency(ttft, ttft, ttft, itl, itl, "engines", 0.5)
        self.most = most

    def latency(self, requests: Requests, rate: float) -> Latency:
        return self.found if rate <= self.most else saturated("engines", rate / self.most)


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(0.5, "yes"), (0.8, "yes"), (0.9, "marginal"), (0.99, "marginal"), (1.01, "no"), (2.0, "no")],
)
def test_with_targets_the_rates_within_them_decide(factor: float, verdict: Verdict) -> None:
    targets, served = Targets(ttft_p95_seconds=1.0, itl_seconds=0.01), phases()
    mine = advise(OF, 1.0, targets, served, Fixed(0.1, 0.001)).most_apart
    found = advise(OF, 1.0, targets, served, Fixed(0.1, 0.001, mine * factor))
    assert found.verdict == verdict
    assert found.is_by_rate
    assert found.rate_ratio == pytest.approx(1 / factor, rel=0.01)


def test_where_only_one_way_meets_the_targets_it_wins() -> None:
    targets, served = Targets(itl_seconds=0.01), phases()
    only_apart = advise(OF, 1.0, targets, served, Fixed(0.1, 0.02))
    assert (only_apart.verdict, only_apart.rate_ratio) == ("yes", inf)
    only_together = advise(OF, 1.0, Targets(itl_seconds=0.0001), served, Fixed(0.1, 0.00005))
    assert (only_together.verdict, only_together.rate_ratio) == ("no", 0)
    neither = advise(OF, 1.0, Targets(itl_seconds=0.00001), served, Fixed(0.1, 0.02))
    assert (neither.verdict, neither.rate_ratio) == ("no", 1)


@pytest.mark.parametrize(
    ("ttft_factor", "itl_factor", "verdict"),
    [
        (1.0, 1.3, "yes"),  # tokens come quicker apart, the first as soon
        (0.5, 1.3, "marginal"),  # tokens come quicker apart, the first later
        (1.0, 1.1, "marginal"),
        (0.5, 1.0, "no"),
        (0.5, 0.9, "no"),
        (1.0, 0.9, "no"),
    ],
)
def test_without_targets_the_times_decide(ttft_factor: float, itl_factor: float, verdict: Verdict) -> None:
    served = phases()
    mine = served.latency(OF, 1.0)
    found = advise(OF, 1.0, Targets(), served, Fixed(mine.ttft_mean * ttft_factor, mine.itl_mean * itl_factor))
    assert found.verdict == verdict
    assert not found.is_by_rate
    # The engines together are tuned for the soonest answer, not for the most requests.
    assert not any("serve up to" in reason for reason in found.reasons)


def test_where_a_side_cannot_serve_the_rate_the_rates_decide() -> None:
    found = advise(OF, 10_000.0, Targets(), phases(), Fixed(0.1, 0.01))
    assert (found.verdict, found.is_by_rate) == ("no", True)
    assert any("apart they cannot serve the rate at all: " in reason for reason in found.reasons)
    found = advise(OF, 1.0, Targets(), phases(), Fixed(0.1, 0.01, 0.5))
    assert found.verdict == "yes"
    assert "together they cannot serve the rate at all: they are full" in found.reasons


def test_the_reasons_name_rates_times_targets_skew_interference_and_the_hand_over() -> None:
    targets = Targets(ttft_p95_seconds=0.01, itl_seconds=0.05)
    found = advise(OF, 2.0, targets, phases(posting=0.1), Fixed(0.1, 0.06))
    text = "\n".join(found.reasons)
    for words in (
        "neither way meets the targets at any rate",
        "at the rate the first token comes after ",
        "apart they miss ttft_p95_seconds: ",
        "together they miss itl_seconds: 60.0 ms for 50.0 ms",
        "of what prefill could do (1 engine) and ",
        "together a step with a prompt of 2,000 tokens in it holds every answer up",
        "the hand-over takes ",
        ", which is much",
        "decode posts reads for 20% of its time",
        TOO_LARGE,
    ):
        assert words in text, words


def test_the_most_requests_of_both_ways_are_said_with_how_many_times_as_many() -> None:
    targets, served = Targets(ttft_p95_seconds=1.0, itl_seconds=0.01), phases()
    mine = advise(OF, 1.0, targets, served, Fixed(0.1, 0.001)).most_apart
    assert f"up to {mine:,.2f} requests a second within the targets" in told(targets, mine / 2)
    assert f"the same GPUs together up to {mine / 2:,.2f}, 2.00 times as many" in told(targets, mine / 2)
    close = told(targets, mine * 1.002)
    assert f"together up to {mine * 1.002:,.2f}, 0.998 times as many" in close
    assert f"both ways serve up to {mine:,.2f} requests a second within the targets" in told(targets, mine)


def told(targets: Targets, most: float) -> str:
    return "\n".join(advise(OF, 1.0, targets, phases(), Fixed(0.1, 0.001, most)).reasons)


def test_no_two_numbers_that_differ_look_the_same_and_equal_ones_are_said_once() -> None:
    mine = phases().latency(OF, 1.0)
    for factor in (1.0, 1.0003, 1.003, 1.03, 1.3):
        found = advise(OF, 1.0, Targets(), phases(), Fixed(mine.ttft_mean * factor, mine.itl_mean * factor))
        (times,) = [reason for reason in found.reasons if reason.startswith("at the rate the first token")]
        first, further = re.findall(r"([\d,.]+) ms apart and ([\d,.]+) ms together", times) or [("", "")] * 2
        assert (first[0] == first[1]) is (factor == 1)
        assert (further[0] == further[1]) is (factor == 1)
        assert times.count(" ms both ways") == (2 if factor == 1 else 0)


def test_prompts_that_hold_nothing_up_are_not_said_to() -> None:
    mine = phases().latency(OF, 1.0)
    for factor, words in (
        (2.0, "together a step with a prompt of 2,000 tokens in it holds every answer up: 95 %"),
        (1.05, "together prompts hold few answers up: 95 % of tokens come within "),
        (0.5, "together prompts hold few answers up: 95 % of tokens come within "),
    ):
        found = advise(OF, 1.0, Targets(), phases(), Fixed(mine.ttft_mean, mine.itl_mean * factor))
        (stall,) = [reason for reason in found.reasons if "95 % of tokens" in reason]
        assert stall.startswith(words)
        assert ", apart within " in stall


def test_the_share_that_does_not_fit_is_said() -> None:
    unequal = Requests(2000, 0, 200, 1.0)
    found = advise(unequal.within(4200), 1.0, Targets(), phases(), Fixed(0.1, 0.01))
    assert any(
        reason.startswith("10.6% of the requests do not fit: vLLM refuses prompts beyond 4,000 tokens")
        for reason in found.reasons
    )
    for of in (unequal, unequal.within(1_000_000), OF.within(4200)):
        assert not any("do not fit" in reason for reason in advise(of, 1.0, Targets(), phases(), Fixed(1, 1)).reasons)
