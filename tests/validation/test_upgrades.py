"""The operator did with every kind of change what the catalogue says, or the difference is explained."""

from __future__ import annotations

import pytest

from support.changes import CHANGES, ROWS, rows_of
from support.specs import ROOT
from support.upgrades import OBSERVED, REASONS, SECOND_CLUSTER, STRATEGIES, Strategy, kind, predicted


def test_each_kind_of_row_was_tried_once() -> None:
    kinds = {kind(row) for row in ROWS} - {((), ())}
    assert [sum(kind(rows_of(field)[0]) == one for field in OBSERVED) for one in kinds] == [1] * 13
    assert set(OBSERVED) <= set(CHANGES)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("field", OBSERVED)
def test_what_was_observed_is_what_was_predicted(field: str, strategy: Strategy) -> None:
    foreseen, seen = predicted(field, strategy), OBSERVED[field][strategy]
    assert foreseen.keys() == seen.keys()
    unequal = {(part, foreseen[part], seen[part]) for part in seen if foreseen[part] != seen[part]}
    assert unequal <= set(REASONS)


def test_every_reason_is_needed() -> None:
    pairs = {
        (part, effect, OBSERVED[field][strategy][part])
        for field in OBSERVED
        for strategy in STRATEGIES
        for part, effect in predicted(field, strategy).items()
    }
    assert set(REASONS) <= pairs


def test_every_test_of_a_second_cluster_is_there() -> None:
    source = (ROOT / "tests" / "cluster" / "test_second_cluster.py").read_text(encoding="utf-8")
    assert [test for test in SECOND_CLUSTER if f"def {test}(" not in source] == []
    assert len(SECOND_CLUSTER) == 4
