"""Engines that take prompts, a hand-over, and engines that answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, sqrt
from statistics import NormalDist

from constructs_pd.planning.performance.batch import batch_at
from constructs_pd.planning.performance.hand_over_growth import Handed, handed_of
from constructs_pd.planning.performance.latency import Bottleneck, Latency, Prompt, Requests, saturated
from constructs_pd.planning.performance.lengths import Times
from constructs_pd.planning.performance.queueing import waiting
from constructs_pd.planning.performance.roofline import Engine
from constructs_pd.planning.performance.tail import TAIL, tail_of


@dataclass(frozen=True, slots=True)
class HandOver:
    """What the hand-over of a prompt of the stated mean length takes.

    Attributes:
        fixed_seconds: What any takes.
        posting_seconds: What a GPU of decode takes at most to post its reads; it decodes nothing meanwhile.
        wire_seconds: What the bytes take where they have a pair of engines' link to themselves.
        prefill_seconds: What the bytes take of the link of one prefill engine.
        decode_seconds: What the bytes take of the link of one decode engine.
        lengths: What prompts of other lengths hand over, the shortest first; none where all is in proportion.
    """

    fixed_seconds: float
    posting_seconds: float
    wire_seconds: float
    prefill_seconds: float
    decode_seconds: float
    lengths: tuple[Handed, ...] = ()

    def share_of_link(self, rate: float, prefill: int, decode: int) -> float:
        """Return the share of the busier side's links that a rate of prompts of that length asks for."""
        return rate * max(self.prefill_seconds / prefill, self.decode_seconds / decode)

    def posting_share(self, rate: float, decode: int) -> float:
        """Return the share of its time for which decode posts reads."""
        return rate / decode * self.posting_seconds

    def seconds(self, handed: Handed, link: float, posting: float) -> float | None:
        """Return the mean time while others are under way, as in hand_over.py; none where there is no end to it.

        Args:
            handed: What is handed over.
            link: The share of the links that is asked for.
            posting: The share of its time for which decode posts reads.
        """
        if link >= 1 or posting >= 1:
            return None
        reads, size = self.posting_seconds / (1 - posting), self.wire_seconds / (1 - link)
        return self.fixed_seconds + handed.reads * reads + handed.bytes * size


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
        middle, long = (self.hand_over_seconds(requests, rate, requests.quantile(share)) for share in (0.5, 0.95))
        transfer = (self.mean_hand_over_seconds(requests, rate), middle, long)
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
            itl_p95=self._tail_seconds(requests, rate, token),
            bottleneck=bottleneck,
            utilization=busy[bottleneck],
        )

    def hand_over_seconds(self, requests: Requests, rate: float, factor: float) -> float | None:
        """Return the time of the hand-over of a prompt so many times as long as the mean; none where it has no end."""
        return self._hand_over_seconds(requests, rate, handed_of(self.hand_over.lengths, factor))

    def mean_hand_over_seconds(self, requests: Requests, rate: float) -> float | None:
        """Return the mean time of all prompts' hand-overs; none where it has no end."""
        return self._hand_over_seconds(requests, rate, _mean_handed(self.hand_over, requests))

    def posting_share(self, requests: Requests, rate: float) -> float:
        """Return the share of its time for which decode posts reads."""
        return self.hand_over.posting_share(rate * _mean_handed(self.hand_over, requests).reads, self.decode_engines)

    def utilizations(self, requests: Requests, rate: float) -> dict[Bottleneck, float]:
        """Return how busy each part is at a rate."""
        prefill = rate * _shares(self.prefill, requests).mean / self.prefill_engines
        decode = rate * self._full_token_seconds(requests, rate) * requests.output_tokens / self._slots
        return {"prefill": prefill, "decode": decode, "link": self._link_share(requests, rate)}

    def _link_share(self, requests: Requests, rate: float) -> float:
        prompts = rate * _mean_handed(self.hand_over, requests).bytes  # so many mean ones hand over as much
        return self.hand_over.share_of_link(prompts, self.prefill_engines, self.decode_engines)

    def _hand_over_seconds(self, requests: Requests, rate: float, handed: Handed) -> float | None:
        return self.hand_over.seconds(handed, self._link_share(requests, rate), self.posting_share(requests, rate))

    @property
    def _slots(self) -> int:
        return self.decode.sequences * self.decode_engines

    def _free(self, requests: Requests, rate: float) -> float:
        """Return the share of its time for which decode posts no reads."""
        return 1 - min(0.999, self.posting_share(requests, rate))

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

    def _tail_seconds(self, requests: Requests, rate: float, token: float) -> float:
        """Return what 95 % of the times between tokens do not exceed: of steps without a posting, and of those with.

        A step stands still until the reads of every request are posted that came since the last one. Those are so many
        at random: mostly none or one, whose lengths decide; where a twentieth of the steps has several, their sum is
        taken to be normal.
        """
        step, postings = token * self._free(requests, rate), rate / self.decode_engines * token
        held = 1 - exp(-postings)  # the share of steps with any
        each = [
            (length.share, self.hand_over.posting_seconds * handed_of(self.hand_over.lengths, length.factor).reads)
            for length in requests.lengths
        ]
        one = tail_of((held * share, seconds) for share, seconds in each)
        if one is None:
            return step
        if exp(-postings) * (1 + postings) >= 1 - TAIL:  # those with several are fewer
            return step + one
        mean, square = (sum(share * seconds**power for share, seconds in each) for power in (1, 2))
        several = postings * mean + NormalDist().inv_cdf(1 - TAIL) * sqrt(postings * square)
        return step + max(one, several)


@lru_cache(maxsize=64)
def _mean_handed(hand_over: HandOver, requests: Requests) -> Handed:
    """Return what prompts hand over on average."""
    parts = [(each.share, handed_of(hand_over.lengths, each.factor)) for each in requests.lengths]
    return Handed(
        requests.mean_factor,
        reads=sum(share * part.reads for share, part in parts),
        bytes=sum(share * part.bytes for share, part in parts),
    )


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
