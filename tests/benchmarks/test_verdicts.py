"""The advice agrees with what published studies found."""

from __future__ import annotations

import pytest

from benchmarks.verdicts import Study, studies


def test_there_are_studies_of_both_kinds() -> None:
    assert len({study.source for study in studies() if study.found == "loss"}) >= 2
    assert len({study.source for study in studies() if study.found == "gain"}) >= 2


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.study)
def test_both_ways_have_the_same_gpus(study: Study) -> None:
    apart, together = study.gpus
    assert apart == together


@pytest.mark.parametrize("study", [each for each in studies() if each.found == "loss"], ids=lambda study: study.study)
def test_where_it_lost_the_advice_is_no_or_marginal(study: Study) -> None:
    assert study.advice().verdict in ("no", "marginal")


@pytest.mark.parametrize("study", [each for each in studies() if each.found == "gain"], ids=lambda study: study.study)
def test_where_it_gained_the_advice_is_yes(study: Study) -> None:
    assert study.advice().verdict == "yes"


@pytest.mark.parametrize("study", [each for each in studies() if each.published_ratio], ids=lambda study: study.study)
def test_the_gain_is_of_the_published_order(study: Study) -> None:
    assert study.published_ratio is not None
    assert study.advice().rate_ratio == pytest.approx(study.published_ratio, rel=0.3)
