from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd175_everybody_in import RULE
from support.rules import findings_of


def ranges(*cidrs: str) -> dict[str, Any]:
    return {"network_policy": {"balancer_cidrs": list(cidrs)}, "endpoint.exposure": "internal_alb"}


def test_leaves_what_is_no_range_to_its_own_rule() -> None:
    assert findings_of(RULE, ranges("999.0.0.0/8")) == []


@pytest.mark.parametrize("changes", [{}, {"network_policy": {}}, ranges("10.0.7.0/24", "0.0.0.0/1")])
def test_accepts_ranges(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


@pytest.mark.parametrize("cidrs", [("10.0.7.0/24", "0.0.0.0/0"), ("0.0.0.0/1", "128.0.0.0/1")])
def test_warns_of_every_address(cidrs: tuple[str, ...]) -> None:
    (finding,) = findings_of(RULE, ranges(*cidrs))
    assert finding.severity is Severity.WARNING
    assert finding.subject == "network_policy.balancer_cidrs"
    assert "4,294,967,296 addresses" in finding.message
