"""The budget of the hand-over: bytes of a request, its time on each path, and what the traffic asks of the links.

Decode reads the blocks when prefill has answered, so nothing of a transfer hides behind prefill (vLLM 0.26.0
nixl/pull_scheduler.py, request_finished).
"""

from __future__ import annotations

from dataclasses import dataclass

from constructs_pd.planning.catalog.rows import TransferPathRow
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.fit import context_tokens
from constructs_pd.planning.hand_over_plan import HandOverPlan, SustainedPlan, TransferPlan
from constructs_pd.planning.hand_over_size import HandOverSize, hand_over_size
from constructs_pd.planning.spec_traffic import Traffic
from constructs_pd.planning.transfer_paths import FALL_BACKS, engine_gbps, limit_gbps, pair_gbps, planned_path

_BITS = 8
_GIGA = 1e9


@dataclass(frozen=True, slots=True)
class TransferTime:
    """Where the time of a transfer goes, in seconds.

    Attributes:
        fixed: What any transfer takes.
        posting: What the descriptors take.
        wire: What the bytes take, with the link to themselves.
    """

    fixed: float
    posting: float
    wire: float

    @property
    def alone(self) -> float:
        """The whole, with the link to itself."""
        return self.fixed + self.posting + self.wire

    def shared(self, utilization: float, posting_share: float) -> float | None:
        """Return the mean of the whole under traffic; none where the link or the posting threads have no time left.

        Requests arrive at random, and those under way share the link evenly: an M/G/1 queue with processor sharing,
        whose mean time is that alone divided by what is free. The thread that posts is reckoned alike.

        Args:
            utilization: The share of the link that is asked for.
            posting_share: The share of its time for which a GPU of decode posts.
        """
        if utilization >= 1 or posting_share >= 1:
            return None
        return self.fixed + self.posting / (1 - posting_share) + self.wire / (1 - utilization)


def transfer_time(size: HandOverSize, path: TransferPathRow, gbps: float) -> TransferTime:
    """Return the time of one request.

    Args:
        size: What is read.
        path: The way.
        gbps: What a pair of engines gets on it, in Gbit/s.
    """
    return TransferTime(
        fixed=path.fixed_ms / 1e3,
        posting=(size.descriptors or 0) * path.descriptor_us / 1e6,
        wire=size.bytes * _BITS / (gbps * _GIGA),
    )


def sustained(facts: Facts, traffic: Traffic) -> SustainedPlan | None:
    """Return what traffic asks of the links, or none where a fact is missing."""
    path, size = planned_path(facts), hand_over_size(facts, traffic.prompt_tokens)
    if path is None or size is None or size.bytes == 0:
        return None
    prefill, decode = (engine_gbps(facts, phase, path) * phase.spec.replicas for phase in facts.phases)
    prefill_limit, decode_limit = (limit_gbps(phase, path) * phase.spec.replicas for phase in facts.phases)
    gigabits = size.bytes * _BITS / _GIGA
    demand = traffic.requests_per_second * gigabits
    utilization = demand / min(prefill, decode)
    time = transfer_time(size, path, pair_gbps(facts, path))
    posting = traffic.requests_per_second / facts.decode.spec.replicas * time.posting
    return SustainedPlan(
        requests_per_second=traffic.requests_per_second,
        demand_gbps=demand,
        prefill_gbps=prefill,
        decode_gbps=decode,
        prefill_limit_gbps=prefill_limit,
        decode_limit_gbps=decode_limit,
        utilization=utilization,
        most_requests_per_second=min(prefill, decode) / gigabits,
        posting_share=None if size.descriptors is None else posting,
        added_ttft_seconds=time.shared(utilization, posting),
    )


def hand_over_plan(facts: Facts) -> HandOverPlan | None:
    """Return the budget of the hand-over, or none where a fact is missing: PD225 says which."""
    context, planned, traffic = context_tokens(facts), planned_path(facts), facts.spec.traffic
    if context is None or planned is None:
        return None
    longest = hand_over_size(facts, context)
    if longest is None:
        return None
    prompt = hand_over_size(facts, traffic.prompt_tokens) if traffic else None
    rows = (planned, *(facts.catalog.transfer_paths[name] for name in FALL_BACKS))
    return HandOverPlan(
        longest_tokens=context,
        longest_bytes=longest.bytes,
        prompt_tokens=traffic.prompt_tokens if traffic else None,
        prompt_bytes=prompt.bytes if prompt else None,
        paths=tuple(_transfer(facts, row, longest, prompt, is_planned=row is planned) for row in rows),
        sustained=sustained(facts, traffic) if traffic else None,
    )


def _transfer(
    facts: Facts, row: TransferPathRow, longest: HandOverSize, prompt: HandOverSize | None, *, is_planned: bool
) -> TransferPlan:
    gbps = pair_gbps(facts, row)
    return TransferPlan(
        path=row.path,
        title=row.title,
        is_planned=is_planned,
        gbps=gbps,
        longest_seconds=transfer_time(longest, row, gbps).alone,
        prompt_seconds=transfer_time(prompt, row, gbps).alone if prompt else None,
    )
