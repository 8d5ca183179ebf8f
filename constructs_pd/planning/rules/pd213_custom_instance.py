"""PD213: the numbers of a custom instance type fit together."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.catalog.rows import Efa
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each number of a custom row that exceeds the one it is a part of."""
    for index, row in enumerate(facts.spec.custom_instances):
        pairs = (
            ("efa.interfaces", row.efa.interfaces, "network_cards from first_efa_card on", _efa_cards(row.efa)),
            ("allocatable_cpu_millicores", row.allocatable_cpu_millicores, "vcpus in thousandths", row.vcpus * 1000),
            ("allocatable_memory_mib", row.allocatable_memory_mib, "memory_mib", row.memory_mib),
        )
        for name, part, whole_name, whole in pairs:
            if part > whole:
                yield Violation(
                    f"custom_instances.{index}.{name}",
                    f"{part:,} is more than {row.instance_type}'s {whole_name}, {whole:,}",
                    f"lower it to {whole:,} or less",
                )


def _efa_cards(efa: Efa) -> int:
    return efa.network_cards - efa.first_efa_card


RULE = Rule(
    code="PD213",
    severity=Severity.ERROR,
    title="The numbers of a custom instance type fit together",
    rationale="Pods would ask for more than any node has, and stay Pending.",
    source="EC2: a network card takes one EFA interface; Kubernetes: allocatable is a part of capacity",
    check=check,
)
