"""PD201: each phase's instance type is one whose GPUs and EFA are known."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.rules.suggest import known_names


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase whose instance type has no row, or is known not to serve."""
    for phase in facts.phases:
        yield from unknown_type(facts, phase.spec.instance_type, f"{phase.name}.instance_type")


def unknown_type(facts: Facts, name: str, subject: str) -> Iterator[Violation]:
    """Yield a violation where an instance type has no row, or is known not to serve."""
    known = facts.built_in.instances
    unsuitable = None if name in known else facts.catalog.unsuitable(name)
    if name in facts.catalog.instances and unsuitable is None:
        return
    why = f": {unsuitable.reason}" if unsuitable else ""
    otherwise = "" if unsuitable else "; otherwise give its numbers in custom_instances"
    yield Violation(
        subject,
        f"{name!r} is none of the {len(known)} instance types whose GPUs and EFA are known{why}",
        f"{known_names(name, known)}{otherwise}",
    )


RULE = Rule(
    code="PD201",
    severity=Severity.ERROR,
    title="The instance type's GPUs and EFA are known",
    rationale="Without EFA the KV hand-over falls back to TCP or never starts; without GPUs no engine starts.",
    source="the catalogue, instances.yaml and unsuitable_instances.yaml",
    check=check,
)
