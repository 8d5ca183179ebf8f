"""The numbers of the rules about the KV hand-over."""

from collections.abc import Iterator
from typing import Final

from constructs_pd.planning.facts import Facts
from constructs_pd.planning.hand_over import hand_over_plan
from constructs_pd.planning.hand_over_plan import HandOverPlan

ARITHMETIC: Final = (
    "demand = requests_per_second x bytes of the mean prompt's KV cache; rate = EFA line rate of the phase's nodes x "
    "the share that the path makes of it; share of the link = demand / the smaller rate of both phases; "
    "added TTFT = 3 ms + descriptors x 2.44 us + bytes / rate / (1 - share)"
)


def worked(facts: Facts) -> Iterator[str]:
    """Yield what the hand-over takes of the links."""
    found = hand_over_plan(facts)
    if found is None:
        yield "not known, see PD225"
        return
    yield f"a request of {found.longest_tokens:,} tokens: {found.longest_bytes / 1e6:,.1f} MB"
    for way in found.paths:
        yield f"{way.title}: {way.gbps:,.1f} Gbit/s, {way.longest_seconds * 1000:,.0f} ms"
    yield from _sustained(found)


def _sustained(found: HandOverPlan) -> Iterator[str]:
    if found.sustained is None or found.prompt_bytes is None:
        yield "no traffic is stated"
        return
    asked = found.sustained
    yield (
        f"demand = {asked.requests_per_second:g} x {found.prompt_bytes / 1e6:,.1f} MB = {asked.demand_gbps:,.1f} Gbit/s"
    )
    yield f"prefill sends {asked.prefill_gbps:,.1f} Gbit/s, {asked.prefill_limit_gbps:,.1f} at most"
    yield f"decode receives {asked.decode_gbps:,.1f} Gbit/s, {asked.decode_limit_gbps:,.1f} at most"
    yield f"share of the link = {asked.utilization:.0%}, full at {asked.most_requests_per_second:,.1f} requests/s"
    added = asked.added_ttft_seconds
    yield "added TTFT: without end" if added is None else f"added TTFT = {added * 1000:,.0f} ms"
