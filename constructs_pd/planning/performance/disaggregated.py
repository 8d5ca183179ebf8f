"""Engines that take prompts, a hand-over, and engines that answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from constructs_pd.planning.performance.batch import batch_at
from constructs_pd.planning.performance.latency import Bottleneck, Latency, Prompt, Requests, saturated
from constructs_pd.planning.performance.lengths import Times
from constructs_pd.planning.performance.queueing import waiting
from constructs_pd.planning.performance.roofline import Engine


@dataclass(frozen=True, slots=True)
class HandOver:
    """What the hand-over of a prompt of the stated mean length takes.

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

    def share_of_link(self, rate: float, prefill: int, decode: int) -> float:
        """Return the share of the busier side's links that a rate of prompts of that length asks for."""
        return rate * max(self.prefill_seconds / prefill, self.decode_seconds / decode)

    def posting_share(self, rate: float, decode: int) -> float:
        """Return the share of its time for which decode posts reads."""
        return rate / decode * self.posting_seconds

    def seconds(self, rate: float, prefill: int, decode: int, factor: float = 1.0) -> float | None:
        """Return the mean time while others are under way, as in hand_over.py; none where there is no end to it.

        Args:
            rate: How many prompts of that length are handed over in a second.
            prefill: Prefill's engines.
            decode: Decode's engines.
            factor: How many times as long this prompt is.
        """
        link, posting = self.share_of_link(rate, prefill, decode), self.posting_share(rate, decode)
        if link >= 1 or posting >= 1:
            return None
        return self.fixed_seconds + factor * (self.posting_seconds / (1 - posting) + self.wire_seconds / (1 - link))


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
        token = self._token_seconds(requests, rate)
        transfer = [self.hand_over_seconds(requests, rate, factor) for factor in _factors(requests)]
        if token is None or busy[bottleneck] >= 1 or None in transfer:
            return saturated(bottleneck, busy[bottleneck])
        share = _shares(self.prefill, requests)
        queue = waiting(rate, share.mean, self.prefill_engines, share.variation)
        slots = waiting(rate, self._full_token_seconds(requests, rate) * requests.output_tokens, self._slots, 1.0)
        fixed = (self.prefill.speed.request_ms + self.decode.speed.hop_ms) / 1e3 + token  # decode's own first step
        mean, middle, long = (
            prompt + (after or 0.0) for prompt, after in zip(_alone(self.prefill, requests), transfer, strict=True)
        )
        return Latency(
            ttft_mean=fixed + queue.mean + mean + slots.mean,
            ttft_p50=fixed + queue.quantile(0.5) + middle + slots.quantile(0.5),
            ttft_p95=fixed + queue.quantile(0.95) + long + slots.quantile(0.95),
            itl_mean=token,
            itl_p95=token,
            bottleneck=bottleneck,
            utilization=busy[bottleneck],
        )

    def hand_over_seconds(self, requests: Requests, rate: float, factor: float) -> float | None:
        """Return the time of the hand-over of a prompt so many times as long as the mean; none where it has no end."""
        return self.hand_over.seconds(rate * requests.mean_factor, self.prefill_engines, self.decode_engines, factor)

    def utilizations(self, requests: Requests, rate: float) -> dict[Bottleneck, float]:
        """Return how busy each part is at a rate."""
        prefill = rate * _shares(self.prefill, requests).mean / self.prefill_engines
        decode = rate * self._full_token_seconds(requests, rate) * requests.output_tokens / self._slots
        link = self.hand_over.share_of_link(rate * requests.mean_factor, self.prefill_engines, self.decode_engines)
        return {"prefill": prefill, "decode": decode, "link": link}

    @property
    def _slots(self) -> int:
        return self.decode.sequences * self.decode_engines

    def _free(self, requests: Requests, rate: float) -> float:
        """Return the share of its time for which decode posts no reads."""
        return 1 - min(0.999, self.hand_over.posting_share(rate * requests.mean_factor, self.decode_engines))

    def _full_token_seconds(self, requests: Requests, rate: float) -> float:
        """Return the time between tokens of a full batch."""
        step = self.decode.step_seconds(sequences=self.decode.sequences, context_tokens=requests.context_tokens)
        return step / self._free(requests, rate)

    def _token_seconds(self, requests: Requests, rate: float) -> float | None:
        """Return the mean time between tokens at a rate, or none where decode cannot keep up."""
        free, context = self._free(requests, rate), requests.context_tokens

        def token_seconds(batch: float) -> float:
            return self.decode.step_seconds(sequences=batch, context_tokens=context) / free

        each = rate / self.decode_engines
        batch = batch_at(each, requests.output_tokens, self.decode.sequences, token_seconds)
        return None if batch is None else token_seconds(max(1.0, batch))


def _factors(requests: Requests) -> tuple[float, float, float]:
    """Return the lengths that decide the mean, the median and the 95th percentile."""
    return requests.mean_factor, requests.quantile(0.5), requests.quantile(0.95)


@lru_cache(maxsize=64)  # they do not depend on the rate, and many rates are tried
def _shares(prefill: Engine, requests: Requests) -> Times:
    """Return the time that prompts take of an engine of prefill where others wait."""
    return requests.times(lambda prompt: prefill.prompt_share_seconds(prompt[0], tokens_before=prompt[1]))


@lru_cache(maxsize=64)
def _alone(prefill: Engine, requests: Requests) -> tuple[float, float, float]:
    """Return how long prompts take: the mean, the median and the 95th percentile."""

    def seconds(prompt: Prompt) -> float:
        return prefill.prompt_seconds(prompt[0], tokens_before=prompt[1])

    middle, long = (seconds(requests.prompt(requests.quantile(share))) for share in (0.5, 0.95))
    return requests.times(seconds).mean, middle, long
