"""PD186: what is stated of monitoring has an effect."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.spec_monitoring import Dashboards


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each field that nothing reads."""
    stated = facts.spec.monitoring
    if stated is None:
        return
    if stated.labels and stated.scraping == "annotations":
        yield Violation(
            "monitoring.labels",
            f"{len(stated.labels)} labels, and scraping annotations has 0 monitors that would carry them",
            "leave it out, or set monitoring.scraping to pod_monitors",
        )
    if stated.runbook_base_url is not None and not stated.rules:
        yield Violation(
            "monitoring.runbook_base_url",
            "rules is false: 0 alerts name it",
            "leave it out, or set monitoring.rules to true",
        )
    if stated.efa_exporter is not None and stated.scraping == "annotations":
        yield Violation(
            "monitoring.efa_exporter",
            "scraping annotations has 0 monitors that would look at it",
            "leave it out, or set monitoring.scraping to pod_monitors",
        )
    if stated.dashboards is not None:
        yield from _dashboards(stated.dashboards, has_rules=stated.rules)


def _dashboards(stated: Dashboards, *, has_rules: bool) -> Iterator[Violation]:
    if not has_rules:
        yield Violation(
            "monitoring.dashboards",
            "rules is false: 0 of the series are recorded that its panels read",
            "leave it out, or set monitoring.rules to true",
        )
    if stated.folder is None and "folder_annotation" in stated.model_fields_set:
        yield Violation(
            "monitoring.dashboards.folder_annotation",
            "0 folders are stated that it would name",
            "leave it out, or state monitoring.dashboards.folder",
        )


RULE = Rule(
    code="PD186",
    severity=Severity.ERROR,
    title="What is stated of monitoring has an effect",
    rationale="A setting that nothing reads is one that somebody believes in.",
    source="this library",
    check=check,
)
