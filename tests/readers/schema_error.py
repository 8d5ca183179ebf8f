"""One readable line for a JSON-schema error."""

from typing import Any

_LONGEST_MESSAGE = 400


def describe(error: Any) -> str:
    """Say where the document is wrong and how; jsonschema repeats whole objects, which hides both."""
    message = str(error.message)
    if len(message) > _LONGEST_MESSAGE:
        message = message[: _LONGEST_MESSAGE // 2] + " ... " + message[-_LONGEST_MESSAGE // 2 :]
    return f"{error.json_path}: {message}"
