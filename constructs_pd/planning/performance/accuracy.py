"""How far predictions were off what people published, and so what more may be read into one."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Final, Literal

from constructs_pd.planning.catalog.loader import Catalog
from constructs_pd.planning.catalog.rows import PredictionErrorRow
from constructs_pd.planning.facts import Facts, PhaseFacts

Time = Literal["TTFT", "ITL"]

# Beyond this error a number is no more than an order of magnitude.
ORDER_OF_MAGNITUDE: Final = 0.3
# Of fewer numbers nothing can be said of three in four.
LEAST_NUMBERS: Final = 4
_THREE_IN_FOUR: Final = 0.75
_MIB_OF_GIB: Final = 1024
# A whole batch is mostly time between tokens.
_COUNTED: Final[dict[Time, tuple[str, ...]]] = {"TTFT": ("TTFT",), "ITL": ("ITL", "whole")}


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How far predictions of one time on one GPU were off.

    Attributes:
        time: The time.
        gpu: The GPU, with its memory where others have its name; none where the instance type is not known.
        numbers: The published numbers that nothing was fitted to.
        error: What three in four of their errors do not exceed, as a share; none without numbers.
    """

    time: Time
    gpu: str | None
    numbers: int
    error: float | None

    @property
    def is_order_of_magnitude(self) -> bool:
        """Whether a prediction is no more than an order of magnitude."""
        return self.error is None or self.numbers < LEAST_NUMBERS or self.error > ORDER_OF_MAGNITUDE

    @property
    def sentence(self) -> str:
        """All of it, in words."""
        published = f"{self.numbers} published {'number' if self.numbers == 1 else 'numbers'} of {self.gpu or 'it'}"
        if self.is_order_of_magnitude:
            return f"{self.time} is an order of magnitude: {self._why_rough(published)}"
        return f"{self.time} was predicted within {self.error:.0%} of three in four of {published}"

    def _why_rough(self, published: str) -> str:
        if self.error is None:
            return f"no published number of {self.gpu or 'the GPU'} was found"
        if self.numbers < LEAST_NUMBERS:
            return f"only {published} can be compared"
        return f"a quarter of {published} were missed by more than {self.error:.0%}"


def accuracy_of(catalog: Catalog, gpu: str | None, time: Time) -> Accuracy:
    """Return how far predictions of a time were off on a GPU, by its key in gpu_speed.yaml.

    Numbers that something was fitted to do not count: they are met because they are.
    """
    rows = [row for row in catalog.prediction_errors.values() if row.gpu == gpu and row.time in _COUNTED[time]]
    held_out = [row for row in rows if not row.is_fitted]
    return Accuracy(time, _title(catalog, gpu) if gpu else None, len(held_out), usual_error(held_out))


def _title(catalog: Catalog, gpu: str) -> str:
    """Return a GPU's name, with its memory where GPUs of another size are called the same."""
    name, _, mebibytes = gpu.rpartition(" ")
    namesakes = [key for key in catalog.gpu_speed if key.rpartition(" ")[0] == name]
    return f"{name} {int(mebibytes) // _MIB_OF_GIB} GB" if len(namesakes) > 1 else name


def usual_error(rows: list[PredictionErrorRow]) -> float | None:
    """Return what three in four errors do not exceed; none without any."""
    if not rows:
        return None
    errors = sorted(abs(row.error) for row in rows)
    return errors[ceil(_THREE_IN_FOUR * len(errors)) - 1]


def accuracies(facts: Facts) -> tuple[Accuracy, Accuracy]:
    """Return how far a specification's predictions are to be trusted: TTFT by prefill's GPU, ITL by decode's."""
    return (
        accuracy_of(facts.catalog, _gpu(facts.prefill), "TTFT"),
        accuracy_of(facts.catalog, _gpu(facts.decode), "ITL"),
    )


def orders_of_magnitude(*found: Accuracy) -> str:
    """Return which times are no more than orders of magnitude, as the end of a message; empty where none is."""
    rough = [accuracy.time for accuracy in found if accuracy.is_order_of_magnitude]
    if not rough:
        return ""
    return f"; {' and '.join(rough)} {'is an order' if len(rough) == 1 else 'are orders'} of magnitude"


def _gpu(phase: PhaseFacts) -> str | None:
    return f"{phase.instance.gpu.name} {phase.instance.gpu.memory_mib}" if phase.instance else None
