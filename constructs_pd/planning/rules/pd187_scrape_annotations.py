"""PD187: annotations for scraping are stated once."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.scraping import PREFIX


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each annotation of a pod that scraping by annotations writes as well."""
    stated = facts.spec.monitoring
    if stated is None or stated.scraping != "annotations":
        return
    for path, pod in facts.pods:
        for key in sorted(pod.annotations):
            if key.startswith(PREFIX):
                yield Violation(
                    f"{path}.annotations",
                    f"{key} is stated, and monitoring.scraping annotations writes {PREFIX} annotations too: 2 of them",
                    "leave it out",
                )


RULE = Rule(
    code="PD187",
    severity=Severity.ERROR,
    title="Annotations for scraping are stated once",
    rationale="One would win in silence, and Prometheus might look at a port where nothing answers.",
    source="this library",
    check=check,
)
