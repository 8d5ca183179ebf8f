"""The hand-over of KV caches from prefill to decode: its bytes, its time, and its share of the links."""

from __future__ import annotations

from constructs_pd.planning.catalog.rows import PathName
from constructs_pd.planning.model_base import FrozenModel


class TransferPlan(FrozenModel):
    """One way for a KV cache, with the time that a request alone takes on it.

    Attributes:
        path: Its name.
        title: What it is, in words.
        is_planned: Whether the deployment takes it. The others are what it would be on them.
        gbps: What one pair of engines gets, in Gbit/s.
        longest_seconds: Time of a request of the longest context.
        prompt_seconds: Time of the mean prompt, or none without traffic.
    """

    path: PathName
    title: str
    is_planned: bool
    gbps: float
    longest_seconds: float
    prompt_seconds: float | None


class SustainedPlan(FrozenModel):
    """What the stated traffic asks of the links on the planned path.

    Attributes:
        requests_per_second: As stated.
        demand_gbps: KV caches in a second, in Gbit/s.
        prefill_gbps: What all prefill nodes together are reckoned to send, in Gbit/s.
        decode_gbps: What all decode nodes together are reckoned to receive, in Gbit/s.
        prefill_limit_gbps: What nobody has seen such prefill nodes surpass, in Gbit/s.
        decode_limit_gbps: What nobody has seen such decode nodes surpass, in Gbit/s.
        utilization: The demand as a share of the smaller of the reckoned two.
        most_requests_per_second: Requests in a second at which that one is full.
        posting_share: The share of its time in which each GPU of decode posts reads and decodes nothing, where no two
            blocks lie side by side; none where the model's layers are not known.
        added_ttft_seconds: What the hand-over of the mean prompt adds to the time to first token while transfers share
            the link and the posting threads; none where either has no time left.
    """

    requests_per_second: float
    demand_gbps: float
    prefill_gbps: float
    decode_gbps: float
    prefill_limit_gbps: float
    decode_limit_gbps: float
    utilization: float
    most_requests_per_second: float
    posting_share: float | None
    added_ttft_seconds: float | None

    @property
    def is_beyond_limits(self) -> bool:
        """Whether the demand is more than anyone has seen one of the phases surpass."""
        return self.demand_gbps > min(self.prefill_limit_gbps, self.decode_limit_gbps)

    @property
    def added_ttft(self) -> str:
        """What the hand-over adds to the time to first token, in words."""
        if self.added_ttft_seconds is not None:
            return f"{self.added_ttft_seconds * 1000:,.0f} ms"
        reasons = [f"{self.utilization:.0%} of the link"] if self.utilization >= 1 else []
        if self.posting_share is not None and self.posting_share >= 1:
            reasons.append(f"{self.posting_share:.0%} of the time of decode's posting threads")
        return f"time without end, it asks for {' and '.join(reasons)}"


class HandOverPlan(FrozenModel):
    """What decode pulls from prefill for each request, as estimated; docs/hand_over.md says how well.

    Attributes:
        longest_tokens: Tokens of the longest context.
        longest_bytes: Bytes of a request that long, on all GPUs of a decode engine together.
        prompt_tokens: Tokens of the mean prompt, or none without traffic.
        prompt_bytes: Bytes of it.
        paths: Ways to transfer them, the planned one first. A fall-back to TCP shows in these.
        sustained: What the traffic asks of the links, or none without traffic.
    """

    longest_tokens: int
    longest_bytes: int
    prompt_tokens: int | None
    prompt_bytes: int | None
    paths: tuple[TransferPlan, ...]
    sustained: SustainedPlan | None

    @property
    def over_tcp(self) -> str:
        """What a fall-back to TCP would be, in words."""
        planned, *others = (way.longest_seconds for way in self.paths)
        now, best, worst = (f"{seconds:,.2f} s" for seconds in (planned, min(others), max(others)))
        if worst == now:
            compared = f"take as long, {now}"
        elif best == now:
            compared = f"take {now} as now, or up to {worst}"
        elif best == worst:
            compared = f"take {worst} in the place of {now}"
        else:
            compared = f"take {best.removesuffix(' s')} to {worst} in the place of {now}"
        return f"without EFA no engine starts; over TCP the KV cache of {self.longest_tokens:,} tokens would {compared}"
