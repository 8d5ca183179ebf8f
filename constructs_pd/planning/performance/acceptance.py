"""With how many engines a workload is served well: the targets are met, and no rule calls the hand-over much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from constructs_pd.planning.hand_over_plan import SustainedPlan
from constructs_pd.planning.performance.latency import Latency
from constructs_pd.planning.performance.targets import BUSY, Targets
from constructs_pd.planning.rules.hand_over_remedies import BUSY as BUSY_LINKS
from constructs_pd.planning.rules.pd227_hand_over_time import POSTING


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What is asked of a deployment.

    Attributes:
        targets: What clients are promised. Where that is nothing of the first token, no part is busier than 80 % all
            the same: it would wait without end.
        hand_over: What the workload asks of the links of one node of each phase; none where nothing is handed over.
    """

    targets: Targets
    hand_over: SustainedPlan | None = None

    def is_met(self, found: Latency) -> bool:
        """Return whether clients are served well."""
        return self.targets.are_met(found) and not self.is_too_busy(found)

    def is_too_busy(self, found: Latency) -> bool:
        """Return whether requests wait for a part that is too busy, which nobody has forbidden."""
        is_bounded = (self.targets.ttft_p50_seconds, self.targets.ttft_p95_seconds) != (None, None)
        return not is_bounded and found.utilization > BUSY

    def is_carried(self, prefill: int, decode: int) -> bool:
        """Return whether so many nodes hand over without being busy with it."""
        return not any(self.much(prefill, decode))

    def much(self, prefill: int, decode: int) -> Iterator[str]:
        """Yield what PD227 would call much with so many nodes."""
        if self.hand_over is None:
            return
        links = min(self.hand_over.prefill_gbps * prefill, self.hand_over.decode_gbps * decode)
        share = self.hand_over.demand_gbps / links
        if share > BUSY_LINKS:
            yield f"the hand-over takes {share:.0%} of the links, and {BUSY_LINKS:.0%} is much"
        posting = (self.hand_over.posting_share or 0.0) / decode
        if posting > POSTING:
            yield f"decode posts reads for {posting:.0%} of its time, and {POSTING:.0%} is much: raise block_tokens"
