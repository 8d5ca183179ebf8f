"""Typed access to a config.json: each field is read once, checked, and named in the error where it is unsound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from constructs_pd.planning.models.errors import BY_HAND, ModelConfigError, missing_field, shown

# Far above any published model, far below where the arithmetic would stop meaning anything.
MOST: Final = 100_000_000
MOST_LAYERS: Final = 1_000
MOST_EXPERTS: Final = 10_000


class ConfigReader:
    """A mapping from a config.json, with its place in the file for messages."""

    def __init__(self, values: Mapping[str, Any], place: str = "") -> None:
        self._values = values
        self._place = place

    def field(self, name: str) -> str:
        """Return a field's dotted place in the file."""
        return f"{self._place}{name}"

    def has(self, name: str) -> bool:
        """Return whether a field is given and is not null."""
        return self._values.get(name) is not None

    def raw(self, name: str) -> Any:
        """Return a field as it stands, or none."""
        return self._values.get(name)

    def integer(self, *names: str, default: int | None = None, least: int = 1, most: int = MOST) -> int:
        """Return a whole number under the first of several names that is given.

        Args:
            names: The field's names, the usual one first.
            default: What the field is where the file leaves it out; without one, leaving it out is an error.
            least: The smallest sound number.
            most: The largest sound number.
        """
        name = next((name for name in names if self.has(name)), names[0])
        value = self._values.get(name)
        if value is None:
            if default is None:
                raise missing_field(self.field(name))
            value = default
        if isinstance(value, bool) or not isinstance(value, int):
            raise ModelConfigError(self.field(name), shown(value), "write a whole number")
        if not least <= value <= most:
            raise ModelConfigError(self.field(name), shown(value), f"write a number from {least:,} to {most:,}")
        return value

    def optional(self, *names: str, least: int = 1, most: int = MOST) -> int | None:
        """Return a whole number, or none where the field is missing or null."""
        return self.integer(*names, least=least, most=most) if any(map(self.has, names)) else None

    def flag(self, name: str, default: bool) -> bool:
        """Return a field that is true or false."""
        value = self._values.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise ModelConfigError(self.field(name), shown(value), "write true or false")
        return value

    def text(self, name: str, default: str | None = None) -> str | None:
        """Return a text, or the default where it is missing or null."""
        value = self._values.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise ModelConfigError(self.field(name), shown(value), "write a text")
        return value

    def texts(self, name: str) -> tuple[str, ...] | None:
        """Return a list of texts, or none where it is missing or null."""
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise ModelConfigError(self.field(name), shown(value), "write a list of texts")
        return tuple(value)

    def integers(self, name: str, most: int = MOST) -> tuple[int, ...] | None:
        """Return a list of whole numbers from zero on, or none where it is missing or null."""
        value = self._values.get(name)
        if value is None:
            return None
        sound = isinstance(value, list | tuple) and all(
            isinstance(item, int) and not isinstance(item, bool) and 0 <= item <= most for item in value
        )
        if not sound:
            raise ModelConfigError(self.field(name), shown(value), f"write a list of numbers from 0 to {most:,}")
        return tuple(value)

    def mapping(self, name: str) -> ConfigReader | None:
        """Return the mapping under a field, or none where it is missing or null."""
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise ModelConfigError(self.field(name), shown(value), "write a mapping")
        return ConfigReader(value, f"{self.field(name)}.")

    def mappings(self, name: str) -> tuple[ConfigReader, ...] | None:
        """Return a list of mappings, or none where it is missing or null."""
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, list | tuple) or not all(isinstance(item, Mapping) for item in value):
            raise ModelConfigError(self.field(name), shown(value), "write a list of mappings")
        return tuple(ConfigReader(item, f"{self.field(name)}.{index}.") for index, item in enumerate(value))

    def items(self) -> tuple[tuple[str, Any], ...]:
        """Return every entry whose name is a text."""
        return tuple((str(name), value) for name, value in self._values.items())

    def layers(self) -> int:
        """Return the number of layers, of which a model has at most a thousand."""
        return self.integer("num_hidden_layers", most=MOST_LAYERS)

    def length(self, name: str, entries: tuple[Any, ...] | str, layers: int) -> None:
        """Refuse a list that has not an entry for each layer."""
        if len(entries) != layers:
            raise ModelConfigError(
                self.field(name), f"{len(entries)} entries for {layers} layers", "complete the config.json"
            )

    def divides(self, part: int, whole: int, part_name: str, whole_name: str) -> None:
        """Refuse a number that does not divide another."""
        if whole % part:
            raise ModelConfigError(
                self.field(part_name), f"{part} does not divide {whole_name} {whole}", "correct the config.json"
            )

    def refused(self, name: str, why: str) -> ModelConfigError:
        """Return the error about a field whose value is sound but cannot be counted."""
        return ModelConfigError(self.field(name), f"{shown(self._values.get(name))}: {why}", BY_HAND)
