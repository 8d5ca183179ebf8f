"""PD131: in a new cluster the model cache's claim does not wait for somebody to make it."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a claim that is said to exist in a cluster that does not yet."""
    cache = facts.spec.model_cache
    if cache is not None and cache.storage == "existing" and facts.spec.eks_cluster is not None:
        yield Violation(
            "model_cache.storage",
            f"the claim {cache.claim_name!r} is said to exist in a cluster that is made now, with 0 storage drivers",
            "set it to efs, leave model_cache out, or make driver and claim yourself before the manifests are applied",
        )


RULE = Rule(
    code="PD131",
    severity=Severity.WARNING,
    title="In a new cluster somebody makes the model cache's claim",
    rationale="Every pod stays Pending until the claim is there.",
    source="Kubernetes documentation, Persistent Volumes",
    check=check,
)
