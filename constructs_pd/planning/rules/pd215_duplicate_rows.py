"""PD215: custom rows of one kind have names of their own."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each custom row whose name an earlier one has."""
    spec = facts.spec
    kinds = {
        "custom_instances": [row.instance_type for row in spec.custom_instances],
        "custom_models": [row.model for row in spec.custom_models],
        "custom_images": [row.tag for row in spec.custom_images],
    }
    for field, names in kinds.items():
        for index, name in enumerate(names):
            if name in names[:index]:
                first = names.index(name)
                yield Violation(f"{field}.{index}", f"{name} is row {first} and row {index}", "keep one of them")


RULE = Rule(
    code="PD215",
    severity=Severity.ERROR,
    title="Custom rows of one kind have names of their own",
    rationale="One of two rows would be ignored in silence.",
    source="this library",
    check=check,
)
