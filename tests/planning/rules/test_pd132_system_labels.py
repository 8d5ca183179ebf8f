import pytest

from constructs_pd.findings import Finding
from constructs_pd.planning.rules.pd132_system_labels import RULE
from support.rules import findings_of


def of_selector(**selector: str) -> list[Finding]:
    return findings_of(RULE, {"eks_cluster.other_zones": ["us-west-2b"], "head.node_selector": selector})


@pytest.mark.parametrize(
    "selector",
    [
        {"pool": "cpu"},
        {"constructs-pd/role": "system"},
        {"example.com/kubernetes.io": "x"},
        {"notkubernetes.io/pool": "cpu"},
        {"kubernetes.io/arch": "amd64", "pool": "cpu"},
    ],
)
def test_accepts_labels_of_ones_own_and_the_architecture(selector: dict[str, str]) -> None:
    assert of_selector(**selector) == []


def test_accepts_the_default() -> None:
    assert findings_of(RULE, {"eks_cluster.other_zones": ["us-west-2b"]}) == []


@pytest.mark.parametrize(
    "key",
    [
        "kubernetes.io/os",
        "node.kubernetes.io/instance-type",
        "node.k8s.io/pool",
        "eks.amazonaws.com/nodegroup",
        "topology.k8s.aws/zone-id",
    ],
)
def test_refuses_labels_that_kubernetes_or_eks_set(key: str) -> None:
    (finding,) = of_selector(**{key: "x", "pool": "cpu"})
    assert finding.subject == "head.node_selector"
    assert finding.message.startswith(f"{key} is set by Kubernetes or EKS; ")


def test_says_nothing_of_a_cluster_that_exists() -> None:
    assert findings_of(RULE, {"head.node_selector": {"node.kubernetes.io/instance-type": "m7i.xlarge"}}) == []
