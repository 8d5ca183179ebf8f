"""PD414: KubeRay was tested with the Kubernetes version."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.versions import version_key


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a Kubernetes version outside those that the operator's own tests run on."""
    kuberay, kubernetes = facts.kuberay, facts.kubernetes
    if kuberay is None or kubernetes is None:
        return
    oldest, newest = kuberay.kubernetes_versions
    if not version_key(oldest) <= version_key(kubernetes.version) <= version_key(newest):
        yield Violation(
            "kubernetes_version",
            f"{kubernetes.version}, and KubeRay {kuberay.version} was tested with {oldest} to {newest}",
            f"choose a version from {oldest} to {newest}, or another KubeRay",
        )


RULE = Rule(
    code="PD414",
    severity=Severity.WARNING,
    title="KubeRay was tested with the Kubernetes version",
    rationale="An operator built for an older API may not start, or fail to write objects whose versions are gone.",
    source="the catalogue, kuberay.yaml: the clusters of KubeRay's own tests",
    check=check,
)
