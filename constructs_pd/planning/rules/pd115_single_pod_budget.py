"""PD115: what a node upgrade does to a group of one pod is known to whoever runs it."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield one violation that names the groups of one pod and what happens to them."""
    alone = ["head", *(phase.name for phase in facts.phases if phase.spec.replicas == 1)]
    if facts.spec.single_pod_budget == "block":
        message = f"{len(alone)} groups of 1 pod ({', '.join(alone)}) keep 1 available: node upgrades wait for ever"
        remedy = "upgrade those nodes by hand, or set it to none to let an upgrade stop the service for a while"
    else:
        message = f"{len(alone)} groups of 1 pod ({', '.join(alone)}) have no budget: a node upgrade stops the service"
        remedy = "set it to block to decide the moment yourself"
    yield Violation("single_pod_budget", message, remedy)


RULE = Rule(
    code="PD115",
    severity=Severity.WARNING,
    title="What a node upgrade does to a group of one pod is known to whoever runs it",
    rationale="A budget cannot both protect a single pod and let its node go. The head is always one pod.",
    source="Kubernetes documentation, Specifying a Disruption Budget; ray-project/kuberay#2662",
    check=check,
)
