"""Numbers that differ look different."""

from __future__ import annotations

import pytest

from constructs_pd.planning.performance.words import beyond, is_same, rates, times


@pytest.mark.parametrize(
    ("seconds", "texts"),
    [
        ((0.0123, 1.5), ("12.3 ms", "1,500 ms")),
        ((0.0123, 0.01234), ("12.30 ms", "12.34 ms")),
        ((12.3001, 12.3049), ("12,300 ms", "12,305 ms")),
        ((12.3001, 12.2851), ("12,300 ms", "12,285 ms")),
        ((1.0001, 1.0004), ("1,000.1 ms", "1,000.4 ms")),
        ((0.5, 0.5), ("500 ms", "500 ms")),
        ((0.5, 0.500001), ("500 ms", "500 ms")),  # found by halving: the same
        ((2.0,), ("2,000 ms",)),
    ],
)
def test_times(seconds: tuple[float, ...], texts: tuple[str, ...]) -> None:
    assert times(*seconds) == texts


def test_rates() -> None:
    assert rates(41.7, 28.6) == ("41.70", "28.60")
    assert rates(3.0, 2.999) == ("3.000", "2.999")
    assert rates(0.998, 1.0) == ("0.998", "1.000")
    assert rates(0.0, 0.001) == ("0.000", "0.001")


def test_a_broken_promise_never_looks_kept() -> None:
    assert beyond(1.2345, 1.0) == ("1.23 s", "1 s")
    assert beyond(1.0004, 1.0) == ("1.0004 s", "1 s")
    assert beyond(0.05000001, 0.05) == ("0.05000001 s", "0.05 s")


def test_the_same_is_what_halving_cannot_tell_apart() -> None:
    assert is_same(1.0, 1.00005)
    assert not is_same(1.0, 1.0002)
    assert is_same(0.0, 0.0)
