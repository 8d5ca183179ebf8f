"""PD411: kube-proxy is of the cluster's version."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a stated version of another minor version than the cluster's."""
    cluster, kubernetes = facts.spec.eks_cluster, facts.spec.kubernetes_version
    stated = cluster.addon_versions.get("kube-proxy") if cluster else None
    if stated is not None and not stated.startswith(f"v{kubernetes}."):
        yield Violation(
            "eks_cluster.addon_versions.kube-proxy",
            f"kube-proxy {stated} in a cluster of {kubernetes}",
            f"state one of v{kubernetes}, or leave it out",
        )


RULE = Rule(
    code="PD411",
    severity=Severity.ERROR,
    title="kube-proxy is of the cluster's version",
    rationale="EKS refuses the add-on, or Services stop answering.",
    source="EKS user guide, Manage kube-proxy in Amazon EKS clusters; Kubernetes documentation, Version Skew Policy",
    check=check,
)
