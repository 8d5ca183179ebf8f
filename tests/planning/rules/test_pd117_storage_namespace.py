from typing import Any

import pytest

from constructs_pd.planning.rules.pd117_storage_namespace import RULE
from support.rules import findings_of

REDIS = {"redis_address": "redis.cache:6379"}


@pytest.mark.parametrize(
    "changes",
    [
        {"upgrade": {"strategy": "new_cluster"}},
        {"upgrade": {"strategy": "new_cluster"}, "gcs_fault_tolerance": REDIS},
        {"gcs_fault_tolerance": {**REDIS, "storage_namespace": "qwen"}},
    ],
)
def test_accepts_either_of_the_two(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


def test_refuses_both_together() -> None:
    redis = {**REDIS, "storage_namespace": "qwen"}
    (finding,) = findings_of(RULE, {"upgrade": {"strategy": "new_cluster"}, "gcs_fault_tolerance": redis})
    assert finding.message == "2 clusters of an upgrade would keep their state in 1 place, 'qwen'"
