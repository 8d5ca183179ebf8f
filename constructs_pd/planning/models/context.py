"""The longest context that a model's config.json says."""

from __future__ import annotations

from typing import Final

from constructs_pd.planning.models.config_reader import MOST, ConfigReader
from constructs_pd.planning.models.errors import ModelConfigError, shown

# These kinds of rotary embedding state the stretched context as max_position_embeddings.
_STRETCHED_ALREADY: Final = ("default", "su", "longrope", "llama3", "mrope")


def stretched_context(tokens: int, text: ConfigReader) -> int:
    """Return the context with the factor by which rotary embeddings stretch it.

    Source: vLLM 0.26.0 config/model.py, _get_and_verify_max_len; Gemma 3 is left out there.

    Args:
        tokens: max_position_embeddings.
        text: The configuration of the language model.
    """
    rope = text.mapping("rope_parameters") or text.mapping("rope_scaling")
    if rope is None or (text.text("model_type") or "").startswith("gemma3"):
        return tokens
    kind = rope.text("rope_type") or rope.text("type")
    if kind is None or kind in _STRETCHED_ALREADY or not rope.has("factor"):
        return tokens
    factor = rope.raw("factor")
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not 1 <= factor <= MOST:
        raise ModelConfigError(rope.field("factor"), shown(factor), "write a number of 1 or more")
    start = rope.integer("original_max_position_embeddings", default=tokens) if kind == "yarn" else tokens
    return min(MOST, int(start * factor))
