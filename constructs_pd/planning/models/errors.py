"""The one error of everything that reads a model's configuration."""

from __future__ import annotations

from typing import Any, Final

from constructs_pd.redaction import redacted

_SHOWN_CHARACTERS: Final = 60
BY_HAND: Final = "give the model's numbers by hand (sizes in custom_models)"


class ModelConfigError(ValueError):
    """A model's configuration that cannot be counted.

    Attributes:
        field: The field of config.json, dotted, or the file itself.
        found: What stands there, shortened.
        remedy: What to do about it.
    """

    def __init__(self, field: str, found: str, remedy: str) -> None:
        self.field = redacted(field)
        self.found = redacted(found)
        self.remedy = remedy
        super().__init__(f"{self.field}: {self.found}; {remedy}")


def shown(value: Any) -> str:
    """Return a value as a message shows it: one line, shortened; of a mapping or a list its size alone."""
    if isinstance(value, dict):
        return f"a mapping of {len(value)} entries"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)} entries"
    if isinstance(value, int) and not isinstance(value, bool):
        # Python refuses to print integers of more than 4,300 digits.
        return str(value) if value.bit_length() < 200 else f"a number of {value.bit_length():,} bits"
    text = redacted(repr(value))
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "..."


def missing_field(field: str) -> ModelConfigError:
    """Return the error about a field without which nothing can be counted."""
    return ModelConfigError(field, "missing", "complete the config.json")
