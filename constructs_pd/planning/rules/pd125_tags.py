"""PD125: tags leave alone what AWS and this library set."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning import defaults
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

OWNED_TAGS = ("Name", defaults.DEPLOYMENT_TAG)
AWS_PREFIXES = ("aws:", "eks:", "kubernetes.io/cluster/")


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each tag that AWS or this library would replace or refuse."""
    for key in facts.spec.nodes.tags:
        if key in OWNED_TAGS:
            yield Violation(f"nodes.tags.{key}", f"{key} is set by this library", "leave it out, or use another key")
        elif key.lower().startswith(AWS_PREFIXES):
            yield Violation(f"nodes.tags.{key}", f"{key} is set by AWS alone", "leave it out, or use another key")


RULE = Rule(
    code="PD125",
    severity=Severity.ERROR,
    title="Tags leave alone what AWS and this library set",
    rationale="EC2 refuses the launch template, or the instances cannot be told apart.",
    source="EC2 User Guide, Tag your Amazon EC2 resources: the prefix aws:; EKS user guide, Tagging your resources",
    check=check,
)
