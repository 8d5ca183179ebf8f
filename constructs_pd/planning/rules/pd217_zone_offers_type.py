"""PD217: the zone offers the instance types."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.offerings import Offering, offering
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.zones import is_zone_id


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase whose type the zone, given by id, or the whole region does not offer."""
    zone = facts.spec.availability_zone
    for phase in facts.phases:
        offered = offering(facts, phase)
        if offered is None or not _is_refused(zone, offered):
            continue
        who = f"{zone} does not offer" if is_zone_id(zone) else f"no zone of {facts.spec.region} offers"
        yield Violation(
            f"{phase.name}.instance_type",
            f"{who} {phase.spec.instance_type}; {len(offered.zones)} of {len(offered.known_zones)} zones do",
            f"choose {', '.join(sorted(offered.zones)) or 'another region'}, or another type; "
            "where EC2 has come to offer it, bring its row in custom_instances",
        )


def _is_refused(zone: str, offered: Offering) -> bool:
    if is_zone_id(zone):
        return zone in offered.known_zones - offered.zones
    return bool(offered.known_zones) and not offered.zones


RULE = Rule(
    code="PD217",
    severity=Severity.ERROR,
    title="The zone offers the instance types",
    rationale="The node group is created and starts no instance, until it fails.",
    source="EC2 DescribeInstanceTypeOfferings by zone id, as moto 5.2.5 carries it",
    check=check,
)
