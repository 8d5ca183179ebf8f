"""PD402: EKS still runs the Kubernetes version."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation when the Kubernetes version has no row."""
    if facts.kubernetes is None:
        known = sorted(facts.catalog.kubernetes, key=lambda version: int(version.split(".")[1]))
        yield Violation(
            "kubernetes_version",
            f"{facts.spec.kubernetes_version} is not a version that EKS runs ({known[0]} to {known[-1]})",
            f"choose one of {', '.join(known)}",
        )


RULE = Rule(
    code="PD402",
    severity=Severity.ERROR,
    title="EKS runs the Kubernetes version",
    rationale="The cluster cannot be created, or was upgraded by EKS without asking.",
    source="the catalogue, kubernetes.yaml",
    check=check,
)
