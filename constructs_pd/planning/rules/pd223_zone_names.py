"""PD223: it is known that EKS takes a cluster's subnets in its zones."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.zones import is_zone_id, zone_id_prefix


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for zones by name in a region of which EKS takes some zones only."""
    cluster, region = facts.spec.eks_cluster, facts.spec.region
    if cluster is None or is_zone_id(facts.spec.availability_zone):
        return
    prefix = f"{zone_id_prefix(region)}-az"
    refused = [zone for zone in facts.catalog.unsupported_zones if zone.startswith(prefix)]
    if refused:
        yield Violation(
            "eks_cluster.other_zones",
            f"{', '.join(refused)} takes no subnet of a cluster, 1 zone of {region}; which name it has differs from "
            "account to account",
            "write all zones by id, as `aws ec2 describe-availability-zones` shows them",
        )


RULE = Rule(
    code="PD223",
    severity=Severity.WARNING,
    title="It is known that EKS takes a cluster's subnets in its zones",
    rationale="EKS refuses the cluster after the network was made.",
    source="EKS user guide, Amazon EKS networking requirements; EC2 User Guide, AZ IDs",
    check=check,
)
