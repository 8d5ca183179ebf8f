"""PD115: what a node upgrade does to a group of one pod is known to whoever runs it."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.budget import pod_groups
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.spec_pods import SinglePodBudget

MEANING = {
    "block": (
        "1 pod of 1 must stay for {}: node upgrades wait for ever",
        "upgrade those nodes by hand, or set it to none to let an upgrade stop the service for a while",
    ),
    "none": (
        "0 pods of 1 must stay for {}: a node upgrade stops the service",
        "set it to block to decide the moment yourself",
    ),
}


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each field that decides over groups of one pod."""
    decided: dict[tuple[str, SinglePodBudget], list[str]] = {}
    for group in pod_groups(facts.spec):
        if group.replicas == 1:
            decided.setdefault((group.field, group.single_pod_budget), []).append(group.role)
    for (field, budget), roles in decided.items():
        message, remedy = MEANING[budget]
        yield Violation(field, message.format(", ".join(roles)), remedy)


RULE = Rule(
    code="PD115",
    severity=Severity.WARNING,
    title="What a node upgrade does to a group of one pod is known to whoever runs it",
    rationale="A budget cannot both protect a single pod and let its node go. The head is always one pod.",
    source="Kubernetes documentation, Specifying a Disruption Budget; ray-project/kuberay#2662",
    check=check,
)
