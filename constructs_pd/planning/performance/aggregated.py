"""Engines that take prompts and answer them: chunks of prompts ride in the steps that answer other requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from constructs_pd.planning.performance.batch import batch_at
from constructs_pd.planning.performance.latency import Latency, Requests, saturated
from constructs_pd.planning.performance.queueing import waiting
from constructs_pd.planning.performance.roofline import Engine

# Beyond this share of steps the 95th percentile of the time between tokens is that of a step with a prompt in it.
_TAIL = 0.05


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
        batch = batch_at(each, requests.output_tokens, self.engine.sequences, _token_seconds(self, requests, each))
        if batch is None:
            return saturated("engines", self._utilization(requests, each))
        batch = max(1.0, batch)  # of a token that is answered there is at least its own request
        engine, context = self.engine, requests.context_tokens
        alone = engine.step_seconds(sequences=batch, context_tokens=context)
        mixed = engine.prompt_seconds(
            requests.prompt_tokens, tokens_before=requests.cached_tokens, sequences=batch, context_tokens=context
        )
        share = engine.prompt_share_seconds(
            requests.prompt_tokens, tokens_before=requests.cached_tokens, sequences=batch, context_tokens=context
        )
        queue = waiting(rate, share, self.engines, requests.variation)
        slots = _slot_waiting(self, requests, rate)
        token = _token_seconds(self, requests, each)(batch)
        if token is None or slots is None:
            return saturated("engines", self._utilization(requests, each))
        fixed = engine.speed.request_ms / 1e3 + alone / 2
        steps = engine.steps(requests.prompt_tokens)
        in_prompts = min(1.0, each * max(1.0, steps) * token)
        return Latency(
            ttft_mean=fixed + queue.mean + slots[0] + mixed,
            ttft_p50=fixed + queue.quantile(0.5) + mixed * requests.prompt_quantile(0.5),
            ttft_p95=fixed + queue.quantile(0.95) + slots[1] + mixed * requests.prompt_quantile(0.95),
            itl_mean=token,
            itl_p95=alone if in_prompts <= _TAIL else max(token, mixed / max(1.0, steps)),
            bottleneck="engines",
            utilization=self._utilization(requests, each),
        )

    def _utilization(self, requests: Requests, each: float) -> float:
        """Return the share of an engine's time that its rate asks for at least: with all it answers in one batch."""
        engine, most, context = self.engine, self.engine.sequences, requests.context_tokens
        prompt = engine.prompt_share_seconds(requests.prompt_tokens, tokens_before=requests.cached_tokens)
        answer = engine.step_seconds(sequences=most, context_tokens=context) / most * requests.output_tokens
        return each * (prompt + answer)


def _token_seconds(served: Aggregated, requests: Requests, each: float) -> Callable[[float], float | None]:
    """Return the mean time between tokens: that of a step without prompts, and what prompts add to others.

    A prompt's chunks make steps longer by what the chunks take. Of each second that share is gone, so the steps that
    answer everybody come further apart.
    """
    engine, context = served.engine, requests.context_tokens

    def token_seconds(batch: float) -> float | None:
        alone = engine.step_seconds(sequences=batch, context_tokens=context)
        prompt = engine.prompt_share_seconds(
            requests.prompt_tokens, tokens_before=requests.cached_tokens, sequences=batch, context_tokens=context
        )
        steps = engine.steps(requests.prompt_tokens)
        if each * prompt >= 1:
            return None
        return alone / (1 - each * max(0.0, prompt - steps * alone))

    return token_seconds


def _slot_waiting(served: Aggregated, requests: Requests, rate: float) -> tuple[float, float] | None:
    """Return the mean and the 95th percentile of the wait for room in a full batch; none where there is no end."""
    full = _token_seconds(served, requests, rate / served.engines)(served.engine.sequences)
    if full is None:
        return None
    slots = waiting(rate, full * requests.output_tokens, served.engine.sequences * served.engines, 1.0)
    return slots.mean, slots.quantile(0.95)
