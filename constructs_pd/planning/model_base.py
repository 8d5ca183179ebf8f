"""The base of every typed value in the planner."""

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):
    """A value that refuses unknown fields, never converts types and never shows its input in an error.

    Hiding the input matters: a secret typed into the wrong field must not end up in a build log.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)
