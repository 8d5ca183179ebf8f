"""The page of every field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from constructs_pd.planning.model_base import model_in
from constructs_pd.planning.spec import DeploymentSpec
from tools.pages.table import NOTE, table


def specification_page() -> str:
    """Return every field of a specification with its default."""
    head = "# Specification\n\nEvery field of a specification file. A field without a default is required.\n\n"
    return NOTE + head + table(("field", "default", "expected"), _fields(DeploymentSpec, ""))


def _fields(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        path = f"{prefix}{name}"
        if field.description:
            yield f"`{path}`", _default(field), field.description
        inner = model_in(field.annotation)
        if inner is not None:
            is_list = "tuple[" in str(field.annotation)
            yield from _fields(inner, f"{path}[]." if is_list else f"{path}.")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    default: Any = field.default
    return "" if default in (None, (), {}) else f"`{json.dumps(default)}`"
