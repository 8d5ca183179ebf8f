"""PD227: the hand-over of the stated traffic is quick."""

from collections.abc import Iterator
from math import ceil
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.hand_over import hand_over_plan
from constructs_pd.planning.hand_over_plan import SustainedPlan
from constructs_pd.planning.hand_over_size import read_sources
from constructs_pd.planning.rules import hand_over_terms
from constructs_pd.planning.rules.changed import errors, holds, with_phases
from constructs_pd.planning.rules.hand_over_remedies import BUSY, MOST_REPLICAS, larger_links, more_replicas
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.spec_traffic import Traffic
from constructs_pd.planning.transfer_paths import is_capped, planned_path

# The posting thread is the one that runs the model (ai-dynamo/nixl#1514): a quarter of decode's speed is much to give.
POSTING: Final = 0.25
# What people wait for without a break in their thought (Nielsen, Usability Engineering, 1993), and the order of the
# hand-over that was reported as a defect: 2.5 s to the first token against 0.6 to 0.8 s (ai-dynamo/dynamo#4185).
SLOW_SECONDS: Final = 1.0


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation where the links or decode's threads are busy, and where a prompt alone takes long."""
    traffic = facts.spec.traffic
    plan = hand_over_plan(facts) if traffic else None
    if traffic is None or plan is None or plan.sustained is None:
        return
    yield from _busy(facts, traffic, plan.sustained)
    yield from _posting(facts, plan.sustained)
    planned = plan.paths[0]
    if planned.prompt_seconds is not None and planned.prompt_seconds > SLOW_SECONDS:
        yield Violation(
            "traffic.prompt_tokens",
            f"the KV cache of {traffic.prompt_tokens:,} tokens takes {planned.prompt_seconds:.1f} s at "
            f"{planned.gbps:,.1f} Gbit/s ({planned.title}), for which the first token waits; "
            f"{SLOW_SECONDS:g} s is much",
            _quicker(facts),
        )


def _busy(facts: Facts, traffic: Traffic, found: SustainedPlan) -> Iterator[Violation]:
    if found.utilization <= BUSY or found.is_beyond_limits:
        return
    rates = zip(("prefill", "decode"), (found.prefill_gbps, found.decode_gbps), strict=True)
    busy = [
        f"{name}'s nodes carry {gbps:,.1f} ({found.demand_gbps / gbps:.0%})"
        for name, gbps in rates
        if found.demand_gbps > BUSY * gbps
    ]
    remedies = [*more_replicas(facts, found), *larger_links(facts, traffic), "state less traffic"]
    yield Violation(
        "traffic.requests_per_second",
        f"{found.requests_per_second:g} requests a second of {traffic.prompt_tokens:,} tokens hand over "
        f"{found.demand_gbps:,.1f} Gbit/s, {' and '.join(busy)}, as reckoned; {BUSY:.0%} is much",
        ", or ".join(remedies),
    )


def _posting(facts: Facts, found: SustainedPlan) -> Iterator[Violation]:
    share = found.posting_share
    if share is None or share <= POSTING or found.is_beyond_limits:
        return
    takes = "decodes nothing meanwhile" if share < 1 else "so it never catches up"
    yield Violation(
        "traffic.requests_per_second",
        f"each GPU of decode posts reads for {share:.0%} of its time where no two blocks lie side by side, and "
        f"{takes}; {POSTING:.0%} is much",
        ", or ".join(_fewer_reads(facts, share)),
    )


def _fewer_reads(facts: Facts, share: float) -> Iterator[str]:
    decode, read_from = facts.decode.tensor_parallel, read_sources(facts) or 1
    replicas = ceil(facts.decode.spec.replicas * share / POSTING)
    if replicas <= MOST_REPLICAS:
        yield f"raise decode.replicas to {replicas}"
    if read_from > 1:
        narrower = with_phases(facts, {"prefill": {"tensor_parallel": decode}})
        if holds(narrower, ["prefill"]) and errors(narrower) <= errors(facts):
            yield f"give prefill decode's tensor_parallel of {decode}: a GPU reads each block from {read_from} GPUs"
    yield "raise block_size in engine_args of both phases: larger blocks are fewer reads"


def _quicker(facts: Facts) -> str:
    planned = planned_path(facts)
    if planned is not None and is_capped(facts, planned):
        return (
            f"choose instances with GPUDirect RDMA for both phases: through host memory an engine gets "
            f"{planned.engine_gbps:g} Gbit/s at most, of whatever links"
        )
    return "choose instances with more EFA bandwidth, or wider engines where EFA interfaces are left idle"


RULE = Rule(
    code="PD227",
    severity=Severity.WARNING,
    title="The hand-over of the stated traffic is quick",
    rationale="Nothing of a transfer hides behind prefill, so all of it is added to the time to first token; above "
    "70 % of the link transfers slow each other down more than threefold. While a GPU's worker posts reads, it decodes "
    "nothing.",
    source="docs/hand_over.md; ai-dynamo/dynamo#4185; ai-dynamo/nixl#1514",
    check=check,
    arithmetic=hand_over_terms.ARITHMETIC,
    worked=hand_over_terms.worked,
)
