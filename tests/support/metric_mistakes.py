"""What is wrong with an expression's names: series that nothing exports or records, and labels that they lack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from constructs_pd import DeploymentPlan
from constructs_pd.manifests.monitoring.rules import rule_groups
from tools.monitoring.expressions import labels_listed, series_read

#: What scraping adds to each series (pod_monitors.py), and Prometheus itself.
OF_TARGETS = frozenset({"namespace", "pod", "phase", "ray_service", "exporter", "instance", "job"})

Rules = list[dict[str, str | dict[str, str]]]
#: The names of series with their labels.
Labels = Mapping[str, AbstractSet[str]]


def rules_of(plan: DeploymentPlan) -> Rules:
    """Return the rules of a plan with monitoring, in their order."""
    assert plan.monitoring is not None
    return [rule for group in rule_groups(plan, plan.monitoring) for rule in group["rules"]]


def labels_recorded(rules: Rules) -> dict[str, set[str]]:
    """Return the labels of each record: those that its rule adds or groups by, and those of records that it reads."""
    found: dict[str, set[str]] = {}
    records = [rule for rule in rules if "record" in rule]
    for rule in records:
        own = found.setdefault(str(rule["record"]), set())
        own |= set(rule.get("labels", ())) | labels_listed(str(rule["expr"])) - {"le"}
    for rule in records:
        for read in series_read(str(rule["expr"])):
            found[str(rule["record"])] |= found.get(read.name, set())
    return found


def mistakes_of(expressions: Iterable[tuple[str, str]], recorded: Labels, exported: Labels) -> Iterator[str]:
    """Yield each series and label that an expression reads and that is not there.

    Args:
        expressions: Who asks, and the expression.
        recorded: What rules record.
        exported: What is exported.
    """
    for what, expression in expressions:
        there: set[str] = set(OF_TARGETS)
        for read in series_read(expression):
            labels = recorded.get(read.name) if ":" in read.name else exported.get(read.name)
            if labels is None:
                yield f"{what} reads {read.name}, which nothing exports"
                continue
            there |= labels
            for label in sorted(read.labels - labels - OF_TARGETS):
                yield f"{what} asks {read.name} for {label}, which it does not have"
        for label in sorted(labels_listed(expression) - there):
            yield f"{what} groups by {label}, which nothing that it reads has"
