"""PD130: somebody makes the volume of the model cache."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a file system without the cluster that it is made beside."""
    cache = facts.spec.model_cache
    if cache is not None and cache.storage == "efs" and facts.spec.eks_cluster is None:
        yield Violation(
            "model_cache.storage",
            "a file system is made beside a new cluster, and 0 clusters are made",
            "make the claim in your cluster and set storage to existing, or state eks_cluster",
        )


RULE = Rule(
    code="PD130",
    severity=Severity.ERROR,
    title="A file system for the model cache is made beside a new cluster",
    rationale="The claim asks for a StorageClass that nobody makes, and every pod stays Pending.",
    source="this library",
    check=check,
)
