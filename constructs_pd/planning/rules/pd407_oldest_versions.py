"""PD407: the image is not older than what the manifests were checked with."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.versions import OLDEST_IN_AN_IMAGE, version_key


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each version in the image that is too old."""
    if facts.image is None:
        return
    for component, oldest in OLDEST_IN_AN_IMAGE.items():
        actual = getattr(facts.image, f"{component}_version")
        if version_key(actual) < version_key(oldest):
            yield Violation(
                "image.tag",
                f"{facts.image.tag} holds {component}_version {actual}, at least {oldest} is needed",
                "use a newer image",
            )


RULE = Rule(
    code="PD407",
    severity=Severity.ERROR,
    title="The image is not older than what the manifests were checked with",
    rationale="Ray before 2.58 cuts running streams on SIGTERM; KV transfer over EFA failed with older vLLM and NIXL.",
    source="ray-project/ray#64181; vllm-project/vllm#27055; ai-dynamo/nixl#1862",
    check=check,
)
