"""A model read from its config.json on disk."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from constructs_pd.planning.catalog.rows import ModelRow
from constructs_pd.planning.models.errors import ModelConfigError, shown
from constructs_pd.planning.models.facts import ModelFacts, model_facts

# The largest published file is under one megabyte.
_MOST_BYTES: Final = 20_000_000
# Published files have six levels.
_MOST_LEVELS: Final = 50
_SURROGATE: Final = re.compile("[\\ud800-\\udfff]")
_QUANTIZATION_FILE: Final = "hf_quant_config.json"


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model as its config.json describes it.

    Attributes:
        config: The file's content, with the quantization that stands beside it.
        facts: What the planner derives from it.
    """

    config: Mapping[str, Any]
    facts: ModelFacts

    @classmethod
    def from_config_json(cls, path: str | Path) -> ModelSpec:
        """Read a model from its config.json.

        Where the file states no quantization, an hf_quant_config.json beside it counts, as it does for vLLM 0.26.0
        (transformers_utils/config.py, get_config).

        Args:
            path: The file.

        Raises:
            ModelConfigError: The file is missing, is not JSON, or cannot be counted.
        """
        path = Path(path)
        config = _mapping(path)
        beside = path.with_name(_QUANTIZATION_FILE)
        if config.get("quantization_config") is None and beside.is_file():
            config = {**config, "quantization_config": {"quant_method": "modelopt", **_mapping(beside)}}
        return cls(config, model_facts(config))

    def row(self, model: str, *, gated: bool, source: str, date: datetime.date) -> ModelRow:
        """Return the model as an entry for custom_models.

        Args:
            model: Its Hugging Face id.
            gated: Whether its weights need an accepted licence and a token.
            source: Where the file was read.
            date: When.
        """
        return ModelRow.model_validate(
            {"model": model, "config": dict(self.config), "gated": gated, "source": source, "date": date}
        )


def _mapping(path: Path) -> dict[str, Any]:
    name = path.name or str(path)
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # a path may hold a null character
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ModelConfigError(name, f"cannot be read ({reason or 'unknown error'})", "give its path") from error
    if len(content) > _MOST_BYTES:
        raise ModelConfigError(name, f"more than {_MOST_BYTES:,} bytes", "give the path of a config.json")
    try:
        value = json.loads(content.decode("utf-8"), parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise ModelConfigError(name, "not JSON", "give the path of a complete config.json") from error
    if not isinstance(value, dict):
        raise ModelConfigError(name, shown(value), "give the path of a config.json, which holds a mapping")
    _refuse_what_no_file_holds(name, value)
    return value


def _refuse_what_no_file_holds(name: str, value: dict[str, Any]) -> None:
    """Refuse what could not be written again: nesting without end, and halves of UTF-16 pairs."""
    level: list[Any] = [value]
    for _ in range(_MOST_LEVELS):
        if any(isinstance(item, str) and _SURROGATE.search(item) for item in level):
            raise ModelConfigError(name, "half of a UTF-16 pair, which is no character", "correct the config.json")
        level = [inner for item in level for inner in _inside(item)]
    if level:
        raise ModelConfigError(name, f"more than {_MOST_LEVELS} levels", "give the path of a config.json")


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else []


def _no_number(_: str) -> None:
    """Read Infinity and NaN, which JSON does not have but published files do, as null."""


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None
