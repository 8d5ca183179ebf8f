"""PD409: the AMI release is one of the Kubernetes version, and is used."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a release of another Kubernetes version, and for one that no phase uses."""
    release, kubernetes = facts.spec.nodes.ami_release_version, facts.spec.kubernetes_version
    if release is None:
        return
    if not release.startswith(f"{kubernetes}."):
        yield Violation(
            "nodes.ami_release_version",
            f"{release} is a release for Kubernetes {_minor(release)}, the cluster is {kubernetes}",
            f"name a release that begins with {kubernetes}.",
        )
    if all(phase.spec.ami_id for phase in facts.phases):
        yield Violation(
            "nodes.ami_release_version",
            f"{release} is a release of EKS's own image, and 0 of 2 phases use it",
            "remove it, or remove an ami_id",
        )


def _minor(release: str) -> str:
    return ".".join(release.split(".")[:2])


RULE = Rule(
    code="PD409",
    severity=Severity.ERROR,
    title="The AMI release is one of the Kubernetes version, and is used",
    rationale="EKS refuses a node group whose release belongs to another version; an unused one is a silent mistake.",
    source="EKS API, CreateNodegroup: releaseVersion",
    check=check,
)
