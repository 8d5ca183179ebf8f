"""What clients see of a deployment at a rate of requests."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, isfinite, log, sqrt
from typing import Final, Literal

Bottleneck = Literal["prefill", "decode", "link", "engines"]

# Quantiles of the normal distribution.
_NORMAL: Final = {0.5: 0.0, 0.95: 1.6449}


@dataclass(frozen=True, slots=True)
class Requests:
    """The requests of a workload.

    Attributes:
        prompt_tokens: Mean tokens of a prompt that are computed: those that a prefix cache holds are not.
        cached_tokens: Mean tokens of a prompt that a prefix cache of prefill holds.
        output_tokens: Mean tokens of an answer.
        variation: The coefficient of variation of the prompts' lengths: 0 where all are alike.
    """

    prompt_tokens: float
    cached_tokens: float
    output_tokens: float
    variation: float

    @property
    def context_tokens(self) -> float:
        """Mean tokens of a request while it is answered."""
        return self.prompt_tokens + self.cached_tokens + self.output_tokens / 2

    @property
    def longest_tokens(self) -> float:
        """Tokens of a mean request at its end."""
        return self.prompt_tokens + self.cached_tokens + self.output_tokens

    def prompt_quantile(self, share: float) -> float:
        """Return a quantile of the prompts' lengths as a multiple of their mean; they are taken as log-normal."""
        spread = log(1 + self.variation**2)
        return exp(_NORMAL[share] * sqrt(spread) - spread / 2)


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
