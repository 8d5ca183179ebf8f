"""What clients see of a deployment at a rate of requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Literal

from constructs_pd.planning.performance.lengths import Length, Times, lengths, quantile, share_beyond, times

Bottleneck = Literal["prefill", "decode", "link", "engines"]

# A prompt's tokens that are computed, and those before them that a prefix cache holds.
Prompt = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Requests:
    """The requests of a workload.

    Attributes:
        prompt_tokens: Mean tokens of a prompt that are computed: those that a prefix cache holds are not.
        cached_tokens: Mean tokens of a prompt that a prefix cache of prefill holds.
        output_tokens: Mean tokens of an answer.
        variation: The coefficient of variation of the prompts' lengths: 0 where all are alike.
        longest_prompt: Tokens of the longest prompt, cached ones included. vLLM refuses longer ones; they are reckoned
            with as if they were sent again, shortened to that.
    """

    prompt_tokens: float
    cached_tokens: float
    output_tokens: float
    variation: float
    longest_prompt: float = inf

    def within(self, context_tokens: float | None) -> Requests:
        """Return the same, cut at what a context leaves for a prompt beside a mean answer."""
        if context_tokens is None:
            return self
        return replace(self, longest_prompt=max(1.0, context_tokens - self.output_tokens))

    @property
    def lengths(self) -> tuple[Length, ...]:
        """The classes of their prompts' lengths."""
        return lengths(self.variation, self._most)

    @property
    def mean_factor(self) -> float:
        """The mean length of what is sent in the end, as a multiple of the stated one."""
        return sum(each.share * each.factor for each in self.lengths)

    @property
    def context_tokens(self) -> float:
        """Mean tokens of a request while it is answered."""
        return self.mean_factor * (self.prompt_tokens + self.cached_tokens) + self.output_tokens / 2

    @property
    def longest_tokens(self) -> float:
        """Tokens of a mean request, as stated, at its end."""
        return self.prompt_tokens + self.cached_tokens + self.output_tokens

    @property
    def refused_share(self) -> float:
        """The share of the requests that do not fit the context."""
        return share_beyond(self.variation, self._most)

    def quantile(self, share: float) -> float:
        """Return the length that so large a share of the prompts does not exceed, as a multiple of the stated mean."""
        return quantile(share, self.variation, self._most)

    def prompt(self, factor: float) -> Prompt:
        """Return a prompt that is so many times as long as the stated mean."""
        return max(1.0, factor * self.prompt_tokens), factor * self.cached_tokens

    def times(self, seconds: Callable[[Prompt], float]) -> Times:
        """Return the mean and the variation of a time over all prompts."""
        return times(lambda factor: seconds(self.prompt(factor)), self.lengths)

    @property
    def _most(self) -> float:
        return self.longest_prompt / (self.prompt_tokens + self.cached_tokens)


@dataclass(frozen=True, slots=True)
class Latency:
    """Times in seconds at one rate; without end where the rate is more than can be served.

    Attributes:
        ttft_mean: Time to the first token.
        ttft_p50: Its median.
        ttft_p95: What 95 % of the requests do not exceed.
        itl_mean: Time between two tokens of an answer.
        itl_p95: What 95 % of these times do not exceed.
        bottleneck: What is too busy, or nearest to it.
        utilization: How busy that is; 1 and more cannot be served.
    """

    ttft_mean: float
    ttft_p50: float
    ttft_p95: float
    itl_mean: float
    itl_p95: float
    bottleneck: Bottleneck
    utilization: float

    @property
    def is_saturated(self) -> bool:
        """Whether the rate is more than can be served."""
        return not isfinite(self.ttft_mean) or not isfinite(self.itl_mean)

    def answer_seconds(self, output_tokens: float) -> float:
        """Return the mean time of a whole answer."""
        return self.ttft_mean + max(0.0, output_tokens - 1) * self.itl_mean


def saturated(bottleneck: Bottleneck, utilization: float) -> Latency:
    """Return the latency of what cannot be served."""
    return Latency(inf, inf, inf, inf, inf, bottleneck, max(1.0, utilization))
