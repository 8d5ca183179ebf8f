from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.rules.pd185_low_availability import RULE
from support.rules import findings_of


@pytest.mark.parametrize("slo", [None, {"itl_p95_seconds": 0.05}, {"availability": 0.9306}, {"availability": 0.99999}])
def test_accepts_what_an_alert_can_watch_over(slo: dict[str, Any] | None) -> None:
    assert findings_of(RULE, {"slo": slo}) == []


@pytest.mark.parametrize("availability", [0.5, 0.9, 0.93])
def test_refuses_what_no_number_of_errors_could_break(availability: float) -> None:
    (finding,) = findings_of(RULE, {"slo": {"availability": availability}})
    assert finding.subject == "slo.availability"
    assert f"{availability:g} allows" in finding.message
    assert "14.4" in finding.message
    assert "0.9306" in finding.remedy
