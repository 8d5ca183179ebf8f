"""PD188: the image's versions are those whose metrics were looked at."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.monitoring import MEASURED_WITH
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each version under which metrics may have other names."""
    stated, image = facts.spec.monitoring, facts.image
    if stated is None or not stated.rules or image is None:
        return
    for name, version in (("ray", image.ray_version), ("vllm", image.vllm_version)):
        if version != MEASURED_WITH[name]:
            yield Violation(
                "monitoring.rules",
                f"the image has {name} {version}, and the names of its metrics were seen with {MEASURED_WITH[name]}",
                "compare a pod's /metrics with docs/monitoring.md; EngineNotMeasured fires where vLLM's are gone",
            )


RULE = Rule(
    code="PD188",
    severity=Severity.WARNING,
    title="The image's versions are those whose metrics were looked at",
    rationale="A metric of another name makes an alert that never fires.",
    source="a rehearsal with the real engine, docs/monitoring.md",
    check=check,
)
