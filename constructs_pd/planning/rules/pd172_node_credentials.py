"""PD172: pods do not get the credentials of their node."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for policies that open the instance metadata."""
    stated = facts.spec.network_policy
    if stated is None or "instance_metadata" not in stated.credentials:
        return
    yield Violation(
        f"network_policy.credentials.{stated.credentials.index('instance_metadata')}",
        "3 kinds of Ray pods reach 169.254.169.254, where the credentials of their node's role are",
        "give the pods a role of their own: an annotation in service_account_annotations, or pod_identity",
    )


RULE = Rule(
    code="PD172",
    severity=Severity.WARNING,
    title="Pods do not get the credentials of their node",
    rationale="With them code in a pod pulls every image of the registry, and what else the node's role permits.",
    source="EKS best practices guide, Security: restrict access to the instance profile assigned to the worker node",
    check=check,
)
