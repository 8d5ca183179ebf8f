"""Lengths of prompts are log-normal and cut, and times are reckoned from them."""

from __future__ import annotations

from math import exp, inf, log, sqrt
from statistics import NormalDist

import pytest

from constructs_pd.planning.performance.latency import Requests
from constructs_pd.planning.performance.lengths import lengths, quantile, share_beyond, times

NORMAL = NormalDist()


def drawn(variation: float, most: float, number: int = 20_000) -> list[float]:
    """Return lengths that stand evenly for all of them."""
    spread = sqrt(log(1 + variation**2))
    shares = ((each + 0.5) / number for each in range(number))
    return [min(most, exp(spread * NORMAL.inv_cdf(share) - spread**2 / 2)) for share in shares]


@pytest.mark.parametrize("variation", [0.0, 0.1, 0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("most", [inf, 4.0, 1.0, 0.25, 0.01])
def test_the_classes_have_the_mean_and_almost_the_variation_of_the_lengths(variation: float, most: float) -> None:
    found, exact = lengths(variation, most), drawn(variation, most)
    assert sum(each.share for each in found) == pytest.approx(1)
    assert [each.factor for each in found] == sorted(each.factor for each in found)
    assert len(found) <= 13
    mean = sum(exact) / len(exact)
    assert sum(each.share * each.factor for each in found) == pytest.approx(mean, rel=0.01)
    if variation <= 2 and most < inf:
        square = sum(each**2 for each in exact) / len(exact)
        assert sum(each.share * each.factor**2 for each in found) == pytest.approx(square, rel=0.03)


@pytest.mark.parametrize(("variation", "rel"), [(0.5, 0.03), (1.0, 0.04), (2.0, 0.07)])
def test_the_variation_of_uncut_lengths(variation: float, rel: float) -> None:
    found = lengths(variation, inf)
    assert sum(each.share * each.factor for each in found) == pytest.approx(1)
    assert sum(each.share * each.factor**2 for each in found) - 1 == pytest.approx(variation**2, rel=rel)


def test_quantiles_are_log_normal_and_no_longer_than_what_fits() -> None:
    assert quantile(0.95, 0.0, inf) == 1
    assert quantile(0.5, 1.0, inf) == pytest.approx(exp(-log(2) / 2))
    assert quantile(0.95, 1.0, inf) == pytest.approx(exp(1.64485 * sqrt(log(2)) - log(2) / 2), rel=1e-5)
    assert quantile(0.95, 1.0, 2.0) == 2
    assert quantile(0.5, 1.0, 2.0) == quantile(0.5, 1.0, inf)


def test_the_share_that_does_not_fit() -> None:
    # ln 2 and half of the spread's square are 1.2485 spreads: 10.6 % of a normal distribution lie beyond.
    assert share_beyond(1.0, 2.0) == pytest.approx(0.1059, abs=1e-4)
    assert share_beyond(1.0, inf) == 0
    assert (share_beyond(0.0, 0.9), share_beyond(0.0, 1.0)) == (1, 0)
    assert sum(each > 2 for each in drawn(1.0, inf)) / 20_000 == pytest.approx(share_beyond(1.0, 2.0), abs=1e-3)


def test_a_time_that_is_not_in_proportion_has_a_mean_and_a_variation_of_its_own() -> None:
    squares = [each + each**2 for each in drawn(0.5, 4.0)]
    mean = sum(squares) / len(squares)
    spread = sqrt(sum(each**2 for each in squares) / len(squares) / mean**2 - 1)
    found = times(lambda factor: factor + factor**2, lengths(0.5, 4.0))
    assert found.mean == pytest.approx(mean, rel=0.01)
    assert found.variation == pytest.approx(spread, rel=0.03)
    assert found.variation > 1.5 * 0.5  # more than the lengths vary
    fixed = times(lambda factor: 9 + factor, lengths(0.5, 4.0))
    assert fixed.variation < 0.1 * 0.5 * 1.05  # what is the same for all hides it
    assert times(lambda factor: 0.0, lengths(0.5, 4.0)).variation == 0
    assert times(lambda factor: inf, lengths(0.5, 4.0)).mean == inf


def test_requests_are_cut_at_what_a_context_leaves_beside_an_answer() -> None:
    requests = Requests(3000, 1000, 300, 1.0).within(8192)
    assert requests.longest_prompt == 7892
    assert requests.refused_share == pytest.approx(share_beyond(1.0, 7892 / 4000))
    assert 4000 * requests.quantile(0.95) == 7892
    assert requests.mean_factor == pytest.approx(sum(drawn(1.0, 7892 / 4000)) / 20_000, rel=1e-3)
    assert requests.context_tokens == 4000 * requests.mean_factor + 150
    assert requests.prompt(2.0) == (6000, 2000)
    uncut = Requests(3000, 1000, 300, 1.0)
    assert uncut.within(None) == uncut
    assert uncut.refused_share == 0
    assert uncut.mean_factor == pytest.approx(1)
