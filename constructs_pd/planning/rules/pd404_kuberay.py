"""PD404: the KubeRay version is one that this library was checked against."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation when the KubeRay version has no row."""
    if facts.kuberay is None:
        yield Violation(
            "kuberay_version",
            f"{facts.spec.kuberay_version!r} is not a release that the manifests were checked against",
            f"use {' or '.join(sorted(facts.catalog.kuberay))}",
        )


RULE = Rule(
    code="PD404",
    severity=Severity.ERROR,
    title="The manifests were checked against the KubeRay version",
    rationale="Older operators ignore or refuse fields that are set here; AWS's samples pin 1.4.0.",
    source="the catalogue, kuberay.yaml",
    check=check,
)
