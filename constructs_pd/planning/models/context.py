"""The longest context that a model's config.json says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from constructs_pd.planning.models.config_reader import MOST, ConfigReader
from constructs_pd.planning.models.errors import ModelConfigError, shown

# These kinds of rotary embedding state the stretched context as max_position_embeddings.
_STRETCHED_ALREADY: Final = ("su", "longrope", "llama3")


def stretched_context(tokens: int, text: ConfigReader) -> int:
    """Return the context with the factor by which rotary embeddings stretch it.

    Source: vLLM 0.26.0 config/model.py, _get_and_verify_max_len; Gemma 3 is left out there.

    Args:
        tokens: max_position_embeddings.
        text: The configuration of the language model.
    """
    if (text.text("model_type") or "").startswith("gemma3"):
        return tokens
    longest, scale = tokens, 1.0
    for rope in _ropes(text):
        kind = rope.text("rope_type") or rope.text("type")
        if kind is None or kind in _STRETCHED_ALREADY or not rope.has("factor"):
            continue
        if kind == "yarn":
            longest = rope.integer("original_max_position_embeddings", default=tokens)
        scale = _factor(rope)
    return min(MOST, int(longest * scale))


def _ropes(text: ConfigReader) -> tuple[ConfigReader, ...]:
    """Return the settings of the rotary embeddings: one, or one for each kind of layer."""
    for name in ("rope_parameters", "rope_scaling"):
        stated = text.mapping(name)
        if stated is None or not stated.items():
            continue
        nested = [key for key, value in stated.items() if isinstance(value, Mapping)]
        inner = tuple(rope for key in nested if (rope := stated.mapping(key)) is not None)
        return inner or (stated,)
    return ()


def _factor(rope: ConfigReader) -> float:
    factor = rope.raw("factor")
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not 1 <= factor <= MOST:
        raise ModelConfigError(rope.field("factor"), shown(factor), "write a number of 1 or more")
    return float(factor)
