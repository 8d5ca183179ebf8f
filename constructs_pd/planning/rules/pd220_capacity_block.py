"""PD220: a Capacity Block is of a type that EC2 sells in Capacity Blocks."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase in a Capacity Block of a type that is not, or not known to be, sold so."""
    for phase in facts.phases:
        if phase.spec.capacity != "capacity_block" or phase.instance is None or phase.instance.capacity_blocks:
            continue
        sold = sorted(name for name, row in facts.catalog.instances.items() if row.capacity_blocks)
        state = "is not" if phase.instance.capacity_blocks is False else "is not known to be"
        yield Violation(
            f"{phase.name}.capacity",
            f"{phase.spec.instance_type} {state} sold in Capacity Blocks; {len(sold)} types are",
            f"choose capacity: reservation, or one of {', '.join(sold)}",
        )


RULE = Rule(
    code="PD220",
    severity=Severity.ERROR,
    title="A Capacity Block is of a type that EC2 sells in Capacity Blocks",
    rationale="EKS refuses the node group.",
    source="EC2 DescribeInstanceTypes, SupportedUsageClasses",
    check=check,
)
