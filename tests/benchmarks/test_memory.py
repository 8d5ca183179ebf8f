"""The memory estimates agree with what vLLM logged on real GPUs."""

from __future__ import annotations

from statistics import median

import pytest

from benchmarks.memory import StartUpLog, compared, start_up_logs

SIZED = [log for log in start_up_logs() if log.total_gib is not None]
COUNTED = [log for log in start_up_logs() if log.kv_cache_tokens is not None]


def test_there_are_enough_logs_of_different_kinds() -> None:
    assert len(SIZED) >= 12
    assert len(COUNTED) >= 12
    assert {log.tensor_parallel for log in SIZED} >= {1, 4, 8}
    assert {log.enforce_eager for log in SIZED} == {True, False}
    assert {bool(log.facts.states) for log in COUNTED} == {True, False}
    assert len({log.name for log in start_up_logs()}) == len(start_up_logs())


@pytest.mark.parametrize("log", SIZED, ids=lambda log: log.name)
def test_the_kv_cache_is_as_large_as_logged(log: StartUpLog) -> None:
    error = compared(log).kv_cache_error
    assert error is not None
    assert abs(error) <= log.kv_cache_error_bound
    assert log.kv_cache_error_bound <= 0.025 or log.reason, "a worse estimate is explained"


def test_the_median_error_is_small() -> None:
    errors = [error for log in SIZED if (error := compared(log).kv_cache_error) is not None]
    assert len(errors) == len(SIZED)
    assert median(map(abs, errors)) < 0.02


@pytest.mark.parametrize("log", COUNTED, ids=lambda log: log.name)
def test_it_holds_as_many_tokens_as_logged(log: StartUpLog) -> None:
    error = compared(log).tokens_error
    assert error is not None
    # A log rounds the size to a hundredth of a GiB, and shows one worker's where the smallest counts.
    assert abs(error) <= 0.003 + 0.005 / log.kv_cache_gib


@pytest.mark.parametrize("log", [log for log in SIZED if log.weights_gib], ids=lambda log: log.name)
def test_the_weights_are_as_large_as_logged(log: StartUpLog) -> None:
    estimated = compared(log).weights_gib
    assert estimated is not None
    assert log.weights_gib is not None
    assert abs(estimated / log.weights_gib - 1) < 0.025
