"""PD222: EKS runs a control plane in the zones of a new cluster."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each zone, given by id, in which EKS refuses a cluster's subnets."""
    cluster, refused = facts.spec.eks_cluster, facts.catalog.unsupported_zones
    if cluster is None:
        return
    stated = {
        "availability_zone": facts.spec.availability_zone,
        **{f"eks_cluster.other_zones.{index}": zone for index, zone in enumerate(cluster.other_zones)},
    }
    for subject, zone in stated.items():
        if zone in refused:
            yield Violation(
                subject,
                f"{zone} is one of {len(refused)} zones in which EKS takes no subnet of a cluster",
                "name another zone",
            )


RULE = Rule(
    code="PD222",
    severity=Severity.ERROR,
    title="EKS takes a cluster's subnets in its zones",
    rationale="EKS refuses the cluster after the network was made.",
    source="EKS user guide, Amazon EKS networking requirements for VPC and subnets",
    check=check,
)
