"""The base of every typed value in the planner."""

from typing import Any, get_args

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):
    """A value that refuses unknown fields, never converts types and never shows its input in an error.

    Hiding the input matters: a secret typed into the wrong field must not end up in a build log.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)


def model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model inside `Model`, `Model | None` or `tuple[Model, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    models = (model_in(argument) for argument in get_args(annotation))
    return next((model for model in models if model is not None), None)
