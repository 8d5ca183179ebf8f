"""PD165: it is known what enforces network policies."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for policies in a cluster of which nobody says that it enforces any."""
    stated = facts.spec.network_policy
    if stated is not None and stated.enforced_by is None and facts.spec.eks_cluster is None:
        yield Violation(
            "network_policy.enforced_by",
            "not stated, 0 policies are enforced in a cluster without an engine for them",
            "look for --enable-network-policy=true in the arguments of aws-eks-nodeagent (kubectl -n kube-system "
            "describe daemonset aws-node), then state enforced_by: vpc_cni, or other for another engine",
        )


RULE = Rule(
    code="PD165",
    severity=Severity.WARNING,
    title="It is known what enforces network policies",
    rationale="Without an engine they are accepted and have no effect: everything reaches everything, in silence.",
    source="EKS user guide, Limit Pod traffic with Kubernetes network policies; Kubernetes documentation, Network "
    "Policies",
    check=check,
)
