from typing import Any

import pytest

from constructs_pd.planning.rules.pd118_head_nodes import RULE
from support.rules import findings_of


@pytest.mark.parametrize(
    "head",
    [
        {"node_selector": {"kubernetes.io/arch": "amd64"}},
        {"node_selector": {"pool": "cpu"}, "tolerations": [{"key": "dedicated", "value": "ray"}]},
    ],
)
def test_accepts_cpu_nodes(head: dict[str, Any]) -> None:
    assert findings_of(RULE, {"head": head}) == []


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ({"node_selector": {"kubernetes.io/arch": "arm64"}}, "arm64 nodes for an image that is built for amd64"),
        (
            {"node_selector": {"constructs-pd/role": "prefill"}},
            "constructs-pd/role=prefill selects GPU nodes",
        ),
        (
            {"node_selector": {"nvidia.com/gpu.present": "true"}},
            "nvidia.com/gpu.present=true selects GPU nodes",
        ),
        (
            {"node_selector": {"node.kubernetes.io/instance-type": "p5.48xlarge"}},
            "node.kubernetes.io/instance-type=p5.48xlarge selects GPU nodes",
        ),
        ({"tolerations": [{"key": "nvidia.com/gpu"}]}, "nvidia.com/gpu is the taint of GPU nodes"),
    ],
)
def test_refuses_other_nodes(head: dict[str, Any], message: str) -> None:
    (finding,) = findings_of(RULE, {"head": head})
    assert finding.message == message
