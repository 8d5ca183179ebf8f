"""Known deviations: what a version of a product is known to answer instead, as data."""

from __future__ import annotations

import re
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter

from constructs_pd.conformance.outcome import CheckFailedError
from constructs_pd.conformance.settings import Settings

Version = tuple[int, ...]
_VERSION: Final = re.compile(r"\d+(\.\d+)*")


class Deviation(BaseModel):
    """What one product answers instead of what a check expects.

    Attributes:
        check: The check's id.
        product: What deviates.
        first: The first version that is known to.
        last: The last version that is known to: a newer one has to be looked at again.
        answers: A regular expression that what was seen contains. Anything else is another fault.
        what: The deviation in a sentence.
        source: How it is known.
        date: When.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    check: str
    product: Literal["ray", "vllm"]
    first: str
    last: str
    answers: str
    what: str
    source: str
    date: date

    def explains(self, check: str, failure: CheckFailedError) -> bool:
        """Return whether a check's failure is this deviation, in whatever version."""
        return self.check == check and re.search(self.answers, failure.actual) is not None

    def is_of(self, settings: Settings) -> bool:
        """Return whether the run says that such a version serves the endpoint."""
        stated = settings.versions.get(self.product)
        return stated is not None and version_of(self.first) <= version_of(stated) <= version_of(self.last)

    @property
    def note(self) -> str:
        """The deviation with its source, on one line."""
        versions = self.first if self.first == self.last else f"{self.first} to {self.last}"
        return f"{self.product} {versions}: {self.what} ({self.source}, {self.date})"


def version_of(text: str) -> Version:
    """Return a version's numbers, to compare.

    Raises:
        ValueError: It is none.
    """
    if _VERSION.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no version, such as 2.58.0")
    return tuple(map(int, text.split(".")))


@cache
def known_deviations() -> tuple[Deviation, ...]:
    """Return every row of the data file."""
    text = files(__package__).joinpath("data", "deviations.yaml").read_text(encoding="utf-8")
    return TypeAdapter(tuple[Deviation, ...]).validate_python(yaml.safe_load(text))
