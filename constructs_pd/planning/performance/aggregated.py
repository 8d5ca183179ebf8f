"""Engines that take prompts and answer them: chunks of prompts ride in the steps that answer other requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from constructs_pd.planning.performance.batch import batch_at
from constructs_pd.planning.performance.latency import Latency, Prompt, Requests, saturated
from constructs_pd.planning.performance.lengths import Times
from constructs_pd.planning.performance.queueing import waiting
from constructs_pd.planning.performance.roofline import Engine
from constructs_pd.planning.performance.tail import tail_of


@dataclass(frozen=True, slots=True)
class Aggregated:
    """Equal engines that serve both phases.

    Attributes:
        engine: One of them.
        engines: How many there are.
    """

    engine: Engine
    engines: int

    def latency(self, requests: Requests, rate: float) -> Latency:
        """Return what clients see at a rate of requests in a second, over all engines."""
        each = rate / self.engines
        utilization = self._utilization(requests, each)
        if each * _idle_share(self.engine, requests).mean >= 1:  # not even prompts alone
            return saturated("engines", utilization)
        token_seconds = _token_seconds(self.engine, requests, each)
        batch = batch_at(each, requests.output_tokens, self.sequences, token_seconds)
        full = token_seconds(self.sequences)
        if batch is None or full is None:
            return saturated("engines", utilization)
        # Of a token that is answered there is at least its own request.
        busy = _Busy(self.engine, max(1.0, batch), requests.context_tokens)
        token = token_seconds(busy.sequences) or full
        share = requests.times(busy.share_seconds)
        queue = waiting(rate, share.mean, self.engines, share.variation)
        slots = waiting(rate, full * requests.output_tokens, self.sequences * self.engines, 1.0)
        fixed = self.engine.speed.request_ms / 1e3 + busy.step_seconds / 2
        mean = requests.times(busy.prompt_seconds).mean
        middle, long = (busy.prompt_seconds(requests.prompt(requests.quantile(part))) for part in (0.5, 0.95))
        return Latency(
            ttft_mean=fixed + queue.mean + mean + slots.mean,
            ttft_p50=fixed + queue.quantile(0.5) + middle + slots.quantile(0.5),
            ttft_p95=fixed + queue.quantile(0.95) + long + slots.quantile(0.95),
            itl_mean=token,
            itl_p95=_tail_seconds(busy, requests, each, token),
            bottleneck="engines",
            utilization=utilization,
        )

    @property
    def sequences(self) -> int:
        """The most requests that an engine answers at once: at most half a step, so that prompts have the rest."""
        return max(1, min(self.engine.sequences, self.engine.step_tokens // 2))

    def _utilization(self, requests: Requests, each: float) -> float:
        """Return the share of an engine's time that its rate asks for, with all it answers in one batch.

        Prompts and answers are counted apart. In the same steps they read the weights once, so somewhat more than all
        of the time can be asked for.
        """
        answer = self.engine.step_seconds(sequences=self.sequences, context_tokens=requests.context_tokens)
        return each * (_idle_share(self.engine, requests).mean + answer / self.sequences * requests.output_tokens)


@dataclass(frozen=True, slots=True)
class _Busy:
    """An engine that answers so many requests."""

    engine: Engine
    sequences: float
    context_tokens: float

    @property
    def step_seconds(self) -> float:
        """How long a step without prompts takes."""
        return self.engine.step_seconds(sequences=self.sequences, context_tokens=self.context_tokens)

    def prompt_seconds(self, prompt: Prompt) -> float:
        """Return how long the steps of a prompt take."""
        return self.engine.prompt_seconds(
            prompt[0], tokens_before=prompt[1], sequences=self.sequences, context_tokens=self.context_tokens
        )

    def share_seconds(self, prompt: Prompt) -> float:
        """Return the same where others wait: short ones share a step."""
        return self.engine.prompt_share_seconds(
            prompt[0], tokens_before=prompt[1], sequences=self.sequences, context_tokens=self.context_tokens
        )

    def steps_of(self, prompt: Prompt) -> Iterator[tuple[float, float]]:
        """Yield in how many steps a prompt rides that takes no other, and how long each is."""
        tokens, before = prompt
        room = self.engine.step_tokens - self.sequences
        whole = int(tokens // room)
        if whole:
            yield whole, self._step_with(room, before + (whole - 1) * room / 2)
        if tokens > whole * room:
            yield 1, self._step_with(tokens - whole * room, before + whole * room)

    def _step_with(self, tokens: float, before: float) -> float:
        return self.engine.step_seconds(
            prompt_tokens=tokens, tokens_before=before, sequences=self.sequences, context_tokens=self.context_tokens
        )


def _token_seconds(engine: Engine, requests: Requests, each: float) -> Callable[[float], float | None]:
    """Return the mean time between tokens: that of a step without prompts, and what prompts add to others.

    A prompt's chunks make steps longer by what the chunks take. Of each second that share is gone, so the steps that
    answer everybody come further apart.
    """
    context = requests.context_tokens

    def token_seconds(batch: float) -> float | None:
        busy = _Busy(engine, batch, context)
        alone, share = busy.step_seconds, requests.times(busy.share_seconds).mean
        if each * share >= 1:
            return None
        steps = requests.times(lambda prompt: engine.steps(prompt[0], batch)).mean
        return alone / (1 - each * max(0.0, share - steps * alone))

    return token_seconds


def _tail_seconds(busy: _Busy, requests: Requests, each: float, token: float) -> float:
    """Return what 95 % of the times between tokens do not exceed: of steps without prompts, and of those with them."""
    # A step comes every `token` seconds, and each step with a prompt in it is one of them.
    tail = tail_of(
        (each * token * length.share * number, seconds)
        for length in requests.lengths
        for number, seconds in busy.steps_of(requests.prompt(length.factor))
    )
    return busy.step_seconds if tail is None else max(token, tail)


@lru_cache(maxsize=256)  # it does not depend on the rate, and many rates are tried
def _idle_share(engine: Engine, requests: Requests) -> Times:
    return requests.times(lambda prompt: engine.prompt_share_seconds(prompt[0], tokens_before=prompt[1]))
