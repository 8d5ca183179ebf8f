"""PD161: pods leave a node before EKS gives up its upgrade."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.balancer import has_keys
from constructs_pd.planning.defaults import NODE_EVICTION_SECONDS
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.timeouts import DRAIN, GENERATION, timeouts_plan


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for pods that may take longer to end than an upgrade of their node waits."""
    timeouts = timeouts_plan(facts.spec)
    grace = timeouts.gateway_grace_seconds if has_keys(facts.spec.endpoint) else timeouts.termination_grace_seconds
    if grace > NODE_EVICTION_SECONDS:
        yield Violation(
            GENERATION if facts.spec.drain_seconds is None else DRAIN,
            f"a pod may take {grace} s to end, an upgrade of its node group waits {NODE_EVICTION_SECONDS} s",
            f"shorten it by {grace - NODE_EVICTION_SECONDS} s, or acknowledge it and upgrade nodes while no request is "
            "that long, or with force, which cuts them",
        )


RULE = Rule(
    code="PD161",
    severity=Severity.WARNING,
    title="Pods leave a node before EKS gives up its upgrade",
    rationale="The upgrade fails with PodEvictionFailure while a long answer is still written; a scale-in ends the "
    "node with the answer.",
    source="EKS user guide, Managed node update behavior: 15 minutes",
    check=check,
)
