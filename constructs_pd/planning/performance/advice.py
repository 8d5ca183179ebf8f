"""Whether it is worth it to serve the phases apart: the same GPUs, the same requests, the same promises."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isfinite
from typing import Final, Literal

from constructs_pd.planning.performance.disaggregated import Disaggregated
from constructs_pd.planning.performance.latency import Latency, Requests
from constructs_pd.planning.performance.most import Served, full_rate, most_rate
from constructs_pd.planning.performance.targets import Targets
from constructs_pd.planning.performance.words import counted, is_same, rates, times

Verdict = Literal["yes", "no", "marginal"]

# The predictions miss ITL by 6 % in the median, TTFT by 46 % (docs/performance_accuracy.md): less than a fifth more
# says nothing either way, and of TTFT not even that says much.
WORTH: Final = 1.2
# A time to the first token that is longer by no more than this is the same.
SAME: Final = 1.1
# A share of its link or of its time that is much to give.
MUCH: Final = 0.1
# A share of the requests that shows at one digit after the point.
TOLD: Final = 0.0005
TOO_LARGE: Final = (
    "a model too large for one node is no reason for it here: each phase holds a full copy on every node, and pipeline "
    "parallelism is refused"
)


@dataclass(frozen=True, slots=True)
class Advice:
    """What is better, and why.

    Attributes:
        verdict: Whether to serve the phases apart.
        is_by_rate: Whether the most requests decided, and not the times at the rate.
        reasons: Why, one sentence each.
        rate_ratio: How many times as many requests within the targets; without end where the same GPUs together serve
            none, 1 where neither serves any.
        most_apart: The most requests in a second within the targets, phases apart.
        most_together: The same, phases together.
        apart: What clients see with the phases apart.
        together: What they see with the phases together.
    """

    verdict: Verdict
    is_by_rate: bool
    reasons: tuple[str, ...]
    rate_ratio: float
    most_apart: float
    most_together: float
    apart: Latency
    together: Latency


def advise(
    requests: Requests, rate: float, targets: Targets, disaggregated: Disaggregated, aggregated: Served
) -> Advice:
    """Return whether to serve the phases apart.

    With targets the most requests within them decide. Without, the times at the rate do, and where either cannot serve
    it, the rate at which each is full.

    Args:
        requests: The requests.
        rate: How many arrive in a second.
        targets: What clients are promised.
        disaggregated: The two phases.
        aggregated: The same GPUs serving both phases.
    """
    apart, together = disaggregated.latency(requests, rate), aggregated.latency(requests, rate)
    if targets.is_empty:
        most = full_rate(disaggregated, requests), full_rate(aggregated, requests)
    else:
        most = most_rate(disaggregated, requests, targets), most_rate(aggregated, requests, targets)
    ratio = _ratio(*most)
    by_rate = not targets.is_empty or apart.is_saturated or together.is_saturated
    verdict = _by_rate(ratio) if by_rate else _by_times(requests, apart, together)
    reasons = (
        *(_of_rates(targets, ratio, *most) if by_rate else ()),  # else both are tuned for the soonest answer
        *_of_times(targets, apart, together),
        *_of_targets(targets, apart, together),
        *_of_skew(disaggregated, requests, rate),
        *_of_interference(requests, together, apart),
        *_of_transfer(disaggregated, requests, rate, apart),
        *_of_refused(requests),
        TOO_LARGE,
    )
    return Advice(verdict, by_rate, reasons, ratio, *most, apart, together)


def _ratio(apart: float, together: float) -> float:
    if together == 0:
        return inf if apart > 0 else 1.0
    return apart / together


def _by_rate(ratio: float) -> Verdict:
    if ratio >= WORTH:
        return "yes"
    return "no" if ratio <= 1 else "marginal"


def _by_times(requests: Requests, apart: Latency, together: Latency) -> Verdict:
    """Judge by the times at the rate: the first token, and the whole answer."""
    answers = [found.answer_seconds(requests.output_tokens) for found in (apart, together)]
    is_later = apart.ttft_mean > SAME * together.ttft_mean
    if together.itl_mean >= WORTH * apart.itl_mean and not is_later:
        return "yes"
    return "no" if answers[0] >= answers[1] and (is_later or apart.itl_mean >= together.itl_mean) else "marginal"


def _of_rates(targets: Targets, ratio: float, apart: float, together: float) -> Iterator[str]:
    within = "before a queue grows" if targets.is_empty else "within the targets"
    if apart == together == 0:
        yield "neither way meets the targets at any rate"
    elif is_same(apart, together):
        yield f"both ways serve up to {rates(apart)[0]} requests a second {within}"
    else:
        texts = rates(apart, together)
        times_as_many = f", {rates(ratio, 1.0)[0]} times as many" if isfinite(ratio) and ratio > 0 else ""
        yield (
            f"the phases apart serve up to {texts[0]} requests a second {within}, the same GPUs together up to "
            f"{texts[1]}{times_as_many}"
        )


def _of_times(targets: Targets, apart: Latency, together: Latency) -> Iterator[str]:
    tuned = {"apart": "", "together": "" if targets.is_empty else ", tuned for the targets,"}
    for name, found in (("apart", apart), ("together", together)):
        if found.is_saturated:
            full = {"prefill": "prefill is", "decode": "decode is", "link": "the links are", "engines": "they are"}
            yield f"{name}{tuned[name]} they cannot serve the rate at all: {full[found.bottleneck]} full"
    if not apart.is_saturated and not together.is_saturated:
        yield (
            f"at the rate the first token comes after {_both(apart.ttft_mean, together.ttft_mean)}, further tokens "
            f"every {_both(apart.itl_mean, together.itl_mean)}"
        )


def _both(apart: float, together: float) -> str:
    first, second = times(apart, together)
    return f"{first} both ways" if is_same(apart, together) else f"{first} apart and {second} together"


def _of_targets(targets: Targets, apart: Latency, together: Latency) -> Iterator[str]:
    for name, found in (("apart", apart), ("together", together)):
        for field, seconds, promised in targets.missed(found):
            if isfinite(seconds):
                predicted, asked = times(seconds, promised)
                yield f"{name} they miss {field}: {predicted} for {asked}"


def _of_skew(served: Disaggregated, requests: Requests, rate: float) -> Iterator[str]:
    """Say how the work divides: whole nodes of one phase may stand idle while the other is full."""
    busy = served.utilizations(requests, rate)
    if max(busy.values()) < 1:
        prefill, decode = (counted(number, "engine") for number in (served.prefill_engines, served.decode_engines))
        yield (
            f"the traffic takes {busy['prefill']:.0%} of what prefill could do ({prefill}) and {busy['decode']:.0%} of "
            f"what decode could with as many requests at once as fit ({decode})"
        )


def _of_interference(requests: Requests, together: Latency, apart: Latency) -> Iterator[str]:
    if together.is_saturated or apart.is_saturated:
        return
    stall, calm = times(together.itl_p95, apart.itl_p95)
    if together.itl_p95 > SAME * apart.itl_p95:
        tokens = requests.mean_factor * (requests.prompt_tokens + requests.cached_tokens)
        yield (
            f"together a step with a prompt of {tokens:,.0f} tokens in it holds every answer up: 95 % of tokens come "
            f"within {stall}, apart within {calm}"
        )
    else:
        yield (
            f"together prompts hold few answers up: 95 % of tokens come within {stall}"
            + ("" if is_same(together.itl_p95, apart.itl_p95) else f", apart within {calm}")
        )


def _of_transfer(served: Disaggregated, requests: Requests, rate: float, apart: Latency) -> Iterator[str]:
    if apart.is_saturated:
        return
    seconds = served.mean_hand_over_seconds(requests, rate)
    assert seconds is not None  # else it were saturated
    share = seconds / apart.ttft_mean
    weight = ", which is much" if share > MUCH else ""
    yield f"the hand-over takes {times(seconds)[0]}, {share:.0%} of the time to the first token{weight}"
    posting = served.posting_share(requests, rate)
    if posting > MUCH:
        yield (
            f"decode posts reads for {posting:.0%} of its time and answers nothing meanwhile, as far as no two "
            "blocks lie side by side: larger blocks are fewer reads"
        )


def _of_refused(requests: Requests) -> Iterator[str]:
    if requests.refused_share >= TOLD:
        yield (
            f"{requests.refused_share:.1%} of the requests do not fit: vLLM refuses prompts beyond "
            f"{requests.longest_prompt:,.0f} tokens, which are reckoned with as if they came again, shortened to that"
        )
