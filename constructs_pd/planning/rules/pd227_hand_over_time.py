"""PD227: the hand-over of the stated traffic is quick."""

from collections.abc import Iterator
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.hand_over import hand_over_plan
from constructs_pd.planning.rules import hand_over_terms
from constructs_pd.planning.rules.rule import Rule, Violation

# Where transfers share the link, one takes 1 / (1 - 0.7) = 3.3 times as long as alone, and a burst much longer.
BUSY: Final = 0.7
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
    found, planned = plan.sustained, plan.paths[0]
    if found.utilization > BUSY and not found.is_beyond_limits:
        side = "prefill" if found.prefill_gbps <= found.decode_gbps else "decode"
        yield Violation(
            "traffic.requests_per_second",
            f"{found.requests_per_second:g} requests a second of {traffic.prompt_tokens:,} tokens hand over "
            f"{found.demand_gbps:,.1f} of the {min(found.prefill_gbps, found.decode_gbps):,.1f} Gbit/s of {side}'s "
            f"nodes, as reckoned: {found.utilization:.0%}",
            f"raise {side}.replicas, or choose instances with more EFA bandwidth",
        )
    if found.posting_share is not None and found.posting_share > POSTING and not found.is_beyond_limits:
        yield Violation(
            "traffic.requests_per_second",
            f"each GPU of decode posts reads for {found.posting_share:.0%} of its time where no two blocks lie side by "
            f"side, and decodes nothing meanwhile; {POSTING:.0%} is much",
            "raise decode.replicas, or block_size in engine_args of both phases: larger blocks are fewer reads",
        )
    if planned.prompt_seconds is not None and planned.prompt_seconds > SLOW_SECONDS:
        yield Violation(
            "traffic.prompt_tokens",
            f"the KV cache of {traffic.prompt_tokens:,} tokens takes {planned.prompt_seconds:.1f} s at "
            f"{planned.gbps:,.1f} Gbit/s ({planned.title}), for which the first token waits; "
            f"{SLOW_SECONDS:g} s is much",
            "choose instances with more EFA bandwidth, or wider engines where EFA interfaces are left idle",
        )


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
