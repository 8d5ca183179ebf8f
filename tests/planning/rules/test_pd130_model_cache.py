from typing import Any

import pytest

from constructs_pd.planning.rules.pd130_model_cache import RULE
from support.rules import findings_of

NEW = {"eks_cluster.other_zones": ["us-west-2b"]}


@pytest.mark.parametrize(
    "changes", [{}, NEW, {**NEW, "model_cache.storage": "efs"}, {"model_cache.storage": "existing"}]
)
def test_accepts_a_file_system_beside_a_new_cluster_or_none(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


def test_accepts_no_cache() -> None:
    assert findings_of(RULE, {"model_cache": None}) == []


def test_refuses_a_file_system_beside_a_cluster_that_exists() -> None:
    (finding,) = findings_of(RULE, {"model_cache.storage": "efs"})
    assert finding.subject == "model_cache.storage"
    assert finding.message == "a file system is made beside a new cluster, and 0 clusters are made"
