from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.rules.pd166_policy_clients import RULE
from support.rules import findings_of


@pytest.mark.parametrize(
    "changes",
    [
        {"endpoint.exposure": "cluster"},
        {"endpoint.exposure": "cluster", "network_policy": {"client_namespaces": ["applications"]}},
        {"endpoint.exposure": "internal_alb", "network_policy": {}},
    ],
)
def test_accepts_an_endpoint_that_somebody_reaches(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


def test_refuses_one_that_nobody_reaches() -> None:
    (finding,) = findings_of(RULE, {"endpoint.exposure": "cluster", "network_policy": {}})
    assert finding.subject == "network_policy.client_namespaces"
    assert "0 namespaces" in finding.message
    assert "inference" in finding.remedy
