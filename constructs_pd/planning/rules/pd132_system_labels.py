"""PD132: a new cluster's system nodes can have the labels that the head selects."""

from collections.abc import Iterator
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning import defaults
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

# Kubernetes documentation, Well-Known Labels: these domains are for Kubernetes and EKS to set.
RESERVED_DOMAINS: Final = ("kubernetes.io", "k8s.io", "eks.amazonaws.com", "k8s.aws")


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each label of the head's selector that a node group cannot be given."""
    if facts.spec.eks_cluster is None:
        return
    for key in facts.spec.head.node_selector:
        domain = key.rpartition("/")[0]
        is_reserved = any(domain == name or domain.endswith(f".{name}") for name in RESERVED_DOMAINS)
        if is_reserved and key != defaults.ARCHITECTURE_LABEL[0]:
            yield Violation(
                "head.node_selector",
                f"{key} is set by Kubernetes or EKS; the system nodes are given the other labels of the selector",
                f"select by a label of your own, or leave it at {defaults.ROLE_LABEL}: {defaults.SYSTEM_ROLE}",
            )


RULE = Rule(
    code="PD132",
    severity=Severity.ERROR,
    title="A new cluster's system nodes have the labels that the head selects",
    rationale="EKS refuses the node group, or the head stays Pending.",
    source="EKS API, CreateNodegroup, labels; Kubernetes documentation, Well-Known Labels",
    check=check,
)
