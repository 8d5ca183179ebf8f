from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd172_node_credentials import RULE
from support.rules import findings_of


@pytest.mark.parametrize("changes", [{}, {"network_policy": {}}, {"network_policy": {"credentials": ["pod_identity"]}}])
def test_accepts_pods_with_credentials_of_their_own(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


def test_warns_of_those_of_the_node() -> None:
    (finding,) = findings_of(RULE, {"network_policy": {"credentials": ["pod_identity", "instance_metadata"]}})
    assert finding.severity is Severity.WARNING
    assert finding.subject == "network_policy.credentials.1"
    assert "169.254.169.254" in finding.message
