"""PD410: it is known that EKS offers the add-ons at their versions."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.addons import addon_names
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each add-on of a new cluster whose version nobody confirms for its Kubernetes version."""
    cluster, kubernetes = facts.spec.eks_cluster, facts.spec.kubernetes_version
    if cluster is None:
        return
    for name in addon_names(facts.spec):
        row = facts.catalog.addons[name]
        if name not in cluster.addon_versions and kubernetes in row.unconfirmed:
            confirmed = len(row.versions.keys() - row.unconfirmed)
            yield Violation(
                "eks_cluster.addon_versions",
                f"{name} {row.versions[kubernetes]} was seen for {confirmed} Kubernetes versions, not for {kubernetes}",
                f"state the version that `aws eks describe-addon-versions --kubernetes-version {kubernetes} "
                f"--addon-name {name}` names",
            )


RULE = Rule(
    code="PD410",
    severity=Severity.WARNING,
    title="It is known that EKS offers the add-ons at their versions",
    rationale="EKS refuses the add-on, and CloudFormation takes the cluster back.",
    source="the catalogue, addons.yaml",
    check=check,
)
