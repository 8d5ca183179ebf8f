"""The numbers of the rules about latency."""

from collections.abc import Iterator
from typing import Final

from constructs_pd.planning.facts import Facts
from constructs_pd.planning.performance.accuracy import accuracies
from constructs_pd.planning.performance.judge import advice_on

ARITHMETIC: Final = (
    "a step = for each part the longer of arithmetic / FLOP/s and bytes / bandwidth, plus sums over GPUs and vLLM's "
    "own time; TTFT = wait for prefill (M/G/c) + steps of the prompt + hand-over + wait for decode + one step; ITL = a "
    "step with as many requests as Little's law puts into it; together: ITL = a step / (1 - requests_per_second x what "
    "prompts add to steps)"
)


def worked(facts: Facts) -> Iterator[str]:
    """Yield what is predicted of a specification, both ways."""
    found = advice_on(facts)
    if found is None:
        yield "not known: state traffic.output_tokens, and see PD234"
        return
    for name, latency, most in (
        ("apart", found.apart, found.most_apart),
        ("together", found.together, found.most_together),
    ):
        if latency.is_saturated:
            yield f"{name}: full, {latency.bottleneck} at {latency.utilization:.0%}"
        else:
            yield (
                f"{name}: TTFT {latency.ttft_p50 * 1000:,.0f} ms, 95 % within {latency.ttft_p95 * 1000:,.0f} ms; ITL "
                f"{latency.itl_mean * 1000:,.1f} ms, 95 % within {latency.itl_p95 * 1000:,.1f} ms; "
                f"{latency.bottleneck} at {latency.utilization:.0%}"
            )
        if found.is_by_rate or name == "apart":  # where times decide, the engines together are tuned for them
            yield f"{name}: {most:,.2f} requests a second at most"
    for accuracy in accuracies(facts):
        yield accuracy.sentence
    yield f"worth it: {found.verdict}"
    yield from found.reasons
