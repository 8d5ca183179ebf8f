"""PD133: what is stated beside a new cluster is used."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.addons import addon_names
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for subnets that cannot exist yet, and for versions of add-ons that are not made."""
    cluster, subnets = facts.spec.eks_cluster, facts.spec.endpoint.subnet_ids
    if cluster is None:
        return
    if subnets:
        yield Violation(
            "endpoint.subnet_ids",
            f"{len(subnets)} subnets that exist, for a cluster whose network is made now",
            "leave them out: the network's own are found by their tags",
        )
    made = addon_names(facts.spec)
    for name in cluster.addon_versions:
        if name not in made:
            yield Violation(
                f"eks_cluster.addon_versions.{name}",
                f"{name} is none of the {len(made)} add-ons that are made",
                "leave it out, or state what needs it: model_cache.storage: efs",
            )


RULE = Rule(
    code="PD133",
    severity=Severity.ERROR,
    title="What is stated beside a new cluster is used",
    rationale="The balancer is asked for in another network; a version would be a setting that is silently not made.",
    source="this library",
    check=check,
)
