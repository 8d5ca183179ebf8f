"""PD103: the availability zone lies in the region."""

import re
from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.zones import is_zone_id, zone_id_prefix


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a zone of another region, by name or by id."""
    region, zone = facts.spec.region, facts.spec.availability_zone
    expected = f"{zone_id_prefix(region)}-az1" if is_zone_id(zone) else f"{region}a"
    if not is_in_region(zone, region):
        yield Violation(
            "availability_zone",
            f"{zone!r} is not a zone of region {region}",
            f"name a zone of {region}, for example {expected!r}",
        )


def is_in_region(zone: str, region: str) -> bool:
    """Return whether a zone, by name or by id, can be one of the region."""
    pattern = rf"{zone_id_prefix(region)}-az\d+" if is_zone_id(zone) else rf"{region}[a-z]"
    return re.fullmatch(pattern, zone) is not None


RULE = Rule(
    code="PD103",
    severity=Severity.ERROR,
    title="The availability zone lies in the region",
    rationale="The node groups would be created in another zone than the pods ask for, and the pods stay Pending.",
    source="AWS documentation, Regions and Zones; zone ids checked against moto's list of zones",
    check=check,
)
