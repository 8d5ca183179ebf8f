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
