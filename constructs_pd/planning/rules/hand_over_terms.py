"""The numbers of the rules about the KV hand-over."""

from collections.abc import Iterator
from typing import Final

from constructs_pd.planning.facts import Facts
from constructs_pd.planning.hand_over import hand_over_plan
from constructs_pd.planning.hand_over_plan import HandOverPlan
from constructs_pd.planning.hand_over_size import hand_over_size
from constructs_pd.planning.transfer_paths import planned_path

ARITHMETIC: Final = (
    "demand = requests_per_second x bytes of the mean prompt's KV cache; rate = EFA line rate of the phase's nodes x "
    "the share that the path makes of it, at most what the path gives an engine; share of the link = demand / the "
    "smaller rate of both phases; posting = descriptors x time of one; share of posting = requests_per_second of a "
    "decode engine x posting; added TTFT = the path's fixed part + posting / (1 - share of posting) + bytes / rate of "
    "a pair / (1 - share of the link)"
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
    yield from _sustained(facts, found)


def _sustained(facts: Facts, found: HandOverPlan) -> Iterator[str]:
    if found.sustained is None or found.prompt_bytes is None:
        yield "no traffic is stated"
        return
    yield from _terms(facts, found)
    asked = found.sustained
    yield (
        f"demand = {asked.requests_per_second:g} x {found.prompt_bytes / 1e6:,.1f} MB = {asked.demand_gbps:,.1f} Gbit/s"
    )
    yield f"prefill sends {asked.prefill_gbps:,.1f} Gbit/s, {asked.prefill_limit_gbps:,.1f} at most"
    yield f"decode receives {asked.decode_gbps:,.1f} Gbit/s, {asked.decode_limit_gbps:,.1f} at most"
    yield f"share of the link = {asked.utilization:.0%}, full at {asked.most_requests_per_second:,.1f} requests/s"
    if asked.posting_share is not None:
        yield f"share of posting = {asked.posting_share:.0%} of each decode GPU's time"
    yield f"added TTFT = {asked.added_ttft}"


def _terms(facts: Facts, found: HandOverPlan) -> Iterator[str]:
    """Yield the catalogue's numbers of the planned path, put into the time of the mean prompt alone."""
    path, planned = planned_path(facts), found.paths[0]
    size = hand_over_size(facts, found.prompt_tokens or 0)
    if path is None or size is None or planned.prompt_seconds is None:
        return
    cap = "" if path.engine_gbps is None else f", an engine at most {path.engine_gbps:g} Gbit/s"
    yield f"{path.title}: {path.efficiency:.0%} of the line rate{cap}"
    posted = "" if size.descriptors is None else f"{size.descriptors:,} descriptors x {path.descriptor_us:g} us + "
    yield (
        f"the mean prompt alone = {path.fixed_ms:g} ms + {posted}{size.bytes / 1e6:,.1f} MB / "
        f"{planned.gbps:,.1f} Gbit/s = {planned.prompt_seconds * 1000:,.0f} ms"
    )
