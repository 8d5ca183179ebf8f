from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.rules.pd188_metric_names import RULE
from support.rules import findings_of

OLDER: dict[str, Any] = {
    "image.tag": "own",
    "custom_images": [
        {
            "tag": "own",
            "repository": "registry.example.com/ray",
            "ray_version": "2.57.0",
            "vllm_version": "0.25.1",
            "nixl_version": "1.3.1",
            "cuda_version": "13.0.2",
            "source": "its labels",
            "date": "2026-11-29",
        }
    ],
}


@pytest.mark.parametrize("changes", [{"monitoring": {}}, OLDER, {**OLDER, "monitoring": {"rules": False}}])
def test_accepts_versions_that_were_looked_at(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


def test_warns_of_versions_whose_names_nobody_saw() -> None:
    ray, vllm = findings_of(RULE, {**OLDER, "monitoring": {}})
    assert {ray.subject, vllm.subject} == {"monitoring.rules"}
    assert "ray 2.57.0" in ray.message
    assert "2.58.0" in ray.message
    assert "vllm 0.25.1" in vllm.message
    assert ray.severity.value == "warning"
