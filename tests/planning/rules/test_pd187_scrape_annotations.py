from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.rules.pd187_scrape_annotations import RULE
from support.rules import findings_of

ANNOTATED: dict[str, Any] = {"decode.pod": {"annotations": {"prometheus.io/port": "9", "team": "search"}}}


@pytest.mark.parametrize(
    "changes",
    [
        ANNOTATED,
        {**ANNOTATED, "monitoring": {}},
        {"monitoring": {"scraping": "annotations"}, "decode.pod": {"annotations": {"team": "search"}}},
    ],
)
def test_accepts_annotations_that_stand_once(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


def test_refuses_those_that_are_written_as_well() -> None:
    (finding,) = findings_of(RULE, {**ANNOTATED, "monitoring": {"scraping": "annotations"}})
    assert finding.subject == "decode.pod.annotations"
    assert "prometheus.io/port" in finding.message
