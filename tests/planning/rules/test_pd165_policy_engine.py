from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd165_policy_engine import RULE
from support.rules import findings_of


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"network_policy": {"enforced_by": "vpc_cni"}},
        {"network_policy": {"enforced_by": "other"}},
        {"network_policy": {}, "eks_cluster.other_zones": ["us-west-2b"]},
    ],
)
def test_accepts_policies_that_something_enforces(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


def test_warns_of_a_cluster_of_which_nobody_says_it() -> None:
    (finding,) = findings_of(RULE, {"network_policy": {}})
    assert finding.severity is Severity.WARNING
    assert finding.subject == "network_policy.enforced_by"
    assert "0 policies are enforced" in finding.message
    assert "enforced_by: vpc_cni" in finding.remedy
