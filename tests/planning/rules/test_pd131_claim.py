from typing import Any

import pytest

from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd131_claim import RULE
from support.rules import findings_of

NEW = {"eks_cluster.other_zones": ["us-west-2b"]}


@pytest.mark.parametrize("changes", [{}, {**NEW, "model_cache.storage": "efs"}, {**NEW, "model_cache": None}])
def test_accepts_a_claim_that_is_made_or_a_cluster_that_exists(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


def test_warns_of_a_claim_in_a_cluster_that_does_not_exist_yet() -> None:
    (finding,) = findings_of(RULE, NEW)
    assert finding.severity is Severity.WARNING
    assert finding.subject == "model_cache.storage"
    assert "'model-cache'" in finding.message
    assert finding.remedy.startswith("set it to efs")
