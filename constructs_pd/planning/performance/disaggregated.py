"""Engines that take prompts, a hand-over, and engines that answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from constructs_pd.planning.performance.batch import batch_at
from constructs_pd.planning.performance.latency import Bottleneck, Latency, Requests, saturated
from constructs_pd.planning.performance.queueing import waiting
from constructs_pd.planning.performance.roofline import Engine


@dataclass(frozen=True, slots=True)
class HandOver:
    """What the hand-over of a mean prompt takes.

    Attributes:
        fixed_seconds: What any takes.
        posting_seconds: What a GPU of decode takes to post its reads; it decodes nothing meanwhile.
        wire_seconds: What the bytes take where they have a pair of engines' link to themselves.
        prefill_seconds: What the bytes take of the link of one prefill engine.
        decode_seconds: What the bytes take of the link of one decode engine.
    """

    fixed_seconds: float
    posting_seconds: float
    wire_seconds: float
    prefill_seconds: float
    decode_seconds: float

    @property
    def alone_seconds(self) -> float:
        """The whole, with the link to itself."""
        return self.fixed_seconds + self.posting_seconds + self.wire_seconds

    def share_of_link(self, rate: float, prefill: int, decode: int) -> float:
        """Return the share of the busier side's links that a rate asks for."""
        return rate * max(self.prefill_seconds / prefill, self.decode_seconds / decode)

    def seconds(self, rate: float, prefill: int, decode: int) -> float | None:
        """Return the mean time while others are under way, as in hand_over.py; none where there is no end to it."""
        link, posting = self.share_of_link(rate, prefill, decode), rate / decode * self.posting_seconds
        if link >= 1 or posting >= 1:
            return None
        return self.fixed_seconds + self.posting_seconds / (1 - posting) + self.wire_seconds / (1 - link)


@dataclass(frozen=True, slots=True)
class Disaggregated:
    """Two phases.

    Attributes:
        prefill: An engine that takes prompts.
        decode: An engine that answers.
        prefill_engines: How many take prompts.
        decode_engines: How many answer.
        hand_over: What lies between.
    """

    prefill: Engine
    decode: Engine
    prefill_engines: int
    decode_engines: int
    hand_over: HandOver

    def with_engines(self, prefill: int, decode: int) -> Disaggregated:
        """Return the same with other numbers of engines."""
        return replace(self, prefill_engines=prefill, decode_engines=decode)

    def latency(self, requests: Requests, rate: float) -> Latency:
        """Return what clients see at a rate of requests in a second."""
        busy = self.utilizations(requests, rate)
        bottleneck = max(busy, key=lambda name: busy[name])
        transfer = self.hand_over.seconds(rate, self.prefill_engines, self.decode_engines)
        prompt = self.prefill.prompt_seconds(requests.prompt_tokens, tokens_before=requests.cached_tokens)
        share = self.prefill.prompt_share_seconds(requests.prompt_tokens, tokens_before=requests.cached_tokens)
        queue = waiting(rate, share, self.prefill_engines, requests.variation)
        token = self._token_seconds(requests, rate)
        slots = waiting(rate, self._full_token_seconds(requests, rate) * requests.output_tokens, self._slots, 1.0)
        if transfer is None or token is None or busy[bottleneck] >= 1:
            return saturated(bottleneck, busy[bottleneck])
        fixed = (self.prefill.speed.request_ms + self.decode.speed.hop_ms) / 1e3
        after = transfer + token  # decode's own first step
        return Latency(
            ttft_mean=fixed + queue.mean + prompt + after + slots.mean,
            ttft_p50=fixed + queue.quantile(0.5) + prompt * requests.prompt_quantile(0.5) + after,
            ttft_p95=fixed
            + queue.quantile(0.95)
            + prompt * requests.prompt_quantile(0.95)
            + after
            + slots.quantile(0.95),
            itl_mean=token,
            itl_p95=token,
            bottleneck=bottleneck,
            utilization=busy[bottleneck],
        )

    def utilizations(self, requests: Requests, rate: float) -> dict[Bottleneck, float]:
        """Return how busy each part is at a rate."""
        prefill = (
            rate
            * self.prefill.prompt_share_seconds(requests.prompt_tokens, tokens_before=requests.cached_tokens)
            / self.prefill_engines
        )
        decode = rate * self._full_token_seconds(requests, rate) * requests.output_tokens / self._slots
        link = self.hand_over.share_of_link(rate, self.prefill_engines, self.decode_engines)
        return {"prefill": prefill, "decode": decode, "link": link}

    @property
    def _slots(self) -> int:
        return self.decode.sequences * self.decode_engines

    def _posting_share(self, rate: float) -> float:
        return min(0.999, rate / self.decode_engines * self.hand_over.posting_seconds)

    def _full_token_seconds(self, requests: Requests, rate: float) -> float:
        """Return the time between tokens of a full batch."""
        step = self.decode.step_seconds(sequences=self.decode.sequences, context_tokens=requests.context_tokens)
        return step / (1 - self._posting_share(rate))

    def _token_seconds(self, requests: Requests, rate: float) -> float | None:
        """Return the mean time between tokens at a rate, or none where decode cannot keep up."""
        free = 1 - self._posting_share(rate)

        def token_seconds(batch: float) -> float:
            return self.decode.step_seconds(sequences=batch, context_tokens=requests.context_tokens) / free

        each = rate / self.decode_engines
        batch = batch_at(each, requests.output_tokens, self.decode.sequences, token_seconds)
        return None if batch is None else token_seconds(max(1.0, batch))
