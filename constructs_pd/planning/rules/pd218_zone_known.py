"""PD218: it is known that the zone offers the instance types."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.offerings import offering
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.zones import is_zone_id


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase where a zone's name leaves it open, or where nobody says."""
    zone, region = facts.spec.availability_zone, facts.spec.region
    for phase in facts.phases:
        offered, name = offering(facts, phase), phase.spec.instance_type
        if offered is None:
            continue
        if not offered.known_zones or (is_zone_id(zone) and zone not in offered.known_zones):
            yield Violation(
                f"{phase.name}.instance_type",
                f"whether {zone} offers {name} is not known; {len(offered.known_zones)} zones of {region} are",
                "ask `aws ec2 describe-instance-type-offerings --location-type availability-zone`",
            )
        elif not is_zone_id(zone) and offered.zones and offered.zones != offered.known_zones:
            yield Violation(
                f"{phase.name}.instance_type",
                f"{len(offered.zones)} of {len(offered.known_zones)} zones of {region} offer {name}; "
                f"which one {zone} is differs from account to account",
                f"write the zone by id: {', '.join(sorted(offered.zones))}",
            )


RULE = Rule(
    code="PD218",
    severity=Severity.WARNING,
    title="It is known that the zone offers the instance types",
    rationale="A node group in a zone without the type is created and starts no instance, until it fails.",
    source="EC2 User Guide, Regions and Zones: AZ IDs; DescribeInstanceTypeOfferings as moto 5.2.5 carries it",
    check=check,
)
