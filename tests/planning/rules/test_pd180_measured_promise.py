from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.rules.pd180_measured_promise import RULE
from support.rules import findings_of

SLO = {"itl_p95_seconds": 0.05}


@pytest.mark.parametrize("changes", [{}, {"monitoring": {}}, {"monitoring": {}, "slo": SLO}])
def test_accepts_promises_that_are_measured(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


@pytest.mark.parametrize(
    ("monitoring", "said"), [(None, "monitoring is not stated"), ({"rules": False}, "monitoring.rules is false")]
)
def test_refuses_promises_that_no_rule_measures(monitoring: dict[str, Any] | None, said: str) -> None:
    (finding,) = findings_of(RULE, {"monitoring": monitoring, "slo": SLO})
    assert finding.subject == "slo"
    assert finding.message.startswith(said)
    assert "0 rules" in finding.message
