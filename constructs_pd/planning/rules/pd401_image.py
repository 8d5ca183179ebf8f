"""PD401: the versions inside the image are known."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.rules.suggest import known_names


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation when the image tag has no row."""
    if facts.image is None:
        tag = facts.spec.image.tag
        yield Violation(
            "image.tag",
            f"{tag!r} is none of the image tags whose versions are known ({len(facts.catalog.images)} known)",
            f"{known_names(tag, facts.catalog.images)}; otherwise give its versions in custom_images",
        )


RULE = Rule(
    code="PD401",
    severity=Severity.ERROR,
    title="The Ray, vLLM and NIXL inside the image are known",
    rationale=(
        "KubeRay chooses probes by rayVersion, and engine arguments differ between vLLM versions; a moving tag "
        "(serve-llm-cuda, -v1, -v1.0) would change both under a running service."
    ),
    source="the catalogue, images.yaml; KubeRay 1.7.0 pod.go, supportsUnifiedHealthCheck",
    check=check,
)
