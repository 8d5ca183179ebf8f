"""Waiting is what the textbooks say where they are exact."""

from __future__ import annotations

from math import exp, factorial, inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructs_pd.planning.performance.queueing import erlang_c, waiting


def test_one_server_waits_as_pollaczek_and_khinchine_say() -> None:
    found = waiting(0.5, 1.0, 1, 0.0)
    assert found.mean == pytest.approx(0.5)  # M/D/1: rho s / 2 (1 - rho)
    assert waiting(0.5, 1.0, 1, 1.0).mean == pytest.approx(1.0)  # M/M/1
    assert found.share == pytest.approx(0.5)


def test_several_servers_wait_as_erlang_says() -> None:
    terms = [8.0**n / factorial(n) for n in range(10)]
    full = 8.0**10 / factorial(10) / (1 - 0.8)
    assert erlang_c(10, 8.0) == pytest.approx(full / (sum(terms) + full))


def test_quantiles_of_exponential_times() -> None:
    found = waiting(0.8, 1.0, 1, 1.0)
    # P(W > t) = rho exp(-(1 - rho) t)
    assert 0.8 * exp(-0.2 * found.quantile(0.95)) == pytest.approx(0.05)
    assert waiting(0.04, 1.0, 1, 1.0).quantile(0.95) == 0


def test_more_than_is_served_waits_without_end() -> None:
    assert waiting(2.0, 1.0, 2, 0.0).mean == inf
    assert waiting(2.0, 1.0, 2, 0.0).quantile(0.95) == inf
    assert waiting(0.0, 1.0, 2, 0.0).mean == 0


@given(st.floats(0.001, 1e4), st.floats(1e-4, 100), st.integers(1, 5000), st.floats(0, 5), st.sampled_from([0.5, 0.95]))
def test_more_servers_never_wait_longer(
    rate: float, seconds: float, servers: int, variation: float, share: float
) -> None:
    fewer, more = (waiting(rate, seconds, number, variation) for number in (servers, servers + 1))
    assert more.mean <= fewer.mean * (1 + 1e-9)
    assert more.quantile(share) <= fewer.quantile(share) * (1 + 1e-9) + 1e-12
