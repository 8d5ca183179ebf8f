"""What a user states of the requests that the deployment is to serve."""

from __future__ import annotations

from pydantic import Field

from constructs_pd.planning.model_base import FrozenModel


class Traffic(FrozenModel):
    """The requests of a busy hour. The plan compares what they need with what is there."""

    requests_per_second: float = Field(
        gt=0,
        le=1_000_000,
        allow_inf_nan=False,
        description="the requests that arrive in a second, on average over a busy hour, above 0, such as 2.5",
    )
    prompt_tokens: int = Field(
        ge=1, le=100_000_000, description="the mean length of their prompts, in tokens, at least 1"
    )
    output_tokens: int | None = Field(
        default=None,
        ge=1,
        le=100_000_000,
        description="the mean length of their answers, in tokens, at least 1; default: not known, and no latency is "
        "predicted",
    )
    prompt_variation: float = Field(
        default=1.0,
        ge=0,
        le=10,
        allow_inf_nan=False,
        description="how unequal the prompts' lengths are: their standard deviation divided by their mean, 0 where all "
        "are alike; default: 1",
    )
    cached_prompt_fraction: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        allow_inf_nan=False,
        description="the part of a prompt that prefill's prefix cache holds already, 0 to below 1, such as a shared "
        "system prompt; default: 0",
    )
