"""PD126: a new cluster has zones of its own region, each once."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.pd103_zone import is_in_region
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.zones import is_zone_id


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each other zone that is of another region or notation, or named before."""
    cluster, own, region = facts.spec.eks_cluster, facts.spec.availability_zone, facts.spec.region
    seen = {own}
    for index, zone in enumerate(cluster.other_zones if cluster else ()):
        subject = f"eks_cluster.other_zones.{index}"
        if zone in seen:
            yield Violation(
                subject,
                f"{zone} is named twice, the network has 1 private subnet in a zone",
                "name another zone of the region",
            )
        elif not is_in_region(zone, region):
            yield Violation(subject, f"{zone!r} is not a zone of region {region}", f"name a zone of {region}")
        elif is_zone_id(zone) != is_zone_id(own):
            yield Violation(
                subject,
                f"{zone!r} and availability_zone {own!r}: one is a name, the other an id",
                "write all zones by name, or all by id",
            )
        seen.add(zone)


RULE = Rule(
    code="PD126",
    severity=Severity.ERROR,
    title="A new cluster has zones of its own region, each once",
    rationale="EKS and load balancers refuse fewer than two zones; CloudFormation makes the network first.",
    source="EKS user guide, Amazon EKS networking requirements for VPC and subnets",
    check=check,
)
