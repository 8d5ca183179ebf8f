"""PD212: a row of the catalogue is not replaced by accident."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each custom row under a name that the built-in catalogue has."""
    built_in, spec = facts.built_in, facts.spec
    instances = [row.instance_type for row in spec.custom_instances]
    models = [row.model for row in spec.custom_models]
    images = [row.tag for row in spec.custom_images]
    named = [
        *(("custom_instances", index, name, built_in.instances) for index, name in enumerate(instances)),
        *(("custom_models", index, name, built_in.models) for index, name in enumerate(models)),
        *(("custom_images", index, name, built_in.images) for index, name in enumerate(images)),
    ]
    for field, index, name, rows in named:
        if name in rows:
            yield Violation(
                f"{field}.{index}",
                f"{name} is in the catalogue ({len(rows)} rows), and this row replaces it",
                "remove the row, or acknowledge that its numbers are meant",
            )


RULE = Rule(
    code="PD212",
    severity=Severity.WARNING,
    title="A row of the catalogue is not replaced by accident",
    rationale="Numbers of one's own win over dated, sourced ones, also long after they were needed.",
    source="this library",
    check=check,
)
