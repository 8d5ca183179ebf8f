"""PD214: the accelerator type of a custom instance type is one that Ray gives to nodes."""

from collections.abc import Iterable, Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.rules.suggest import known_names


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each custom row whose accelerator type the image's Ray gives to no node."""
    row = facts.catalog.accelerators.get(facts.image.ray_version) if facts.image else None
    if row is None:
        return
    for index, instance in enumerate(facts.spec.custom_instances):
        name = instance.gpu.ray_accelerator_type
        if name is not None and name not in row.names:
            yield Violation(
                f"custom_instances.{index}.gpu.ray_accelerator_type",
                f"{name!r} is none of the {len(row.names)} names that Ray {row.ray_version} gives to nodes",
                f"{_near(name, row.names)}; null where Ray has no name for the GPU",
            )


def _near(name: str, known: Iterable[str]) -> str:
    same = [other for other in sorted(known) if other.lower() == name.lower()]
    return f"write {same[0]}" if same else known_names(name, known)


RULE = Rule(
    code="PD214",
    severity=Severity.ERROR,
    title="The accelerator type is one that Ray gives to nodes",
    rationale="The engines wait for ever for a node with that accelerator. Names are case-sensitive.",
    source="Ray 2.58.0 util/accelerators; _private/accelerators/nvidia_gpu.py",
    check=check,
)
