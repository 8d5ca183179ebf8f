"""PD125: tags leave alone what AWS and this library set."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning import defaults
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

OWNED_TAGS = ("name", defaults.DEPLOYMENT_TAG)
AWS_PREFIXES = ("aws:", "eks:", "kubernetes.io/cluster/")


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each tag that AWS or this library would replace or refuse; IAM ignores the case of keys."""
    seen: dict[str, str] = {}
    for key in facts.spec.nodes.tags:
        folded = key.lower()
        subject, remedy = f"nodes.tags.{key}", "leave it out, or use another key"
        if folded in OWNED_TAGS:
            yield Violation(subject, f"{key} is set by this library", remedy)
        elif folded.startswith(AWS_PREFIXES):
            yield Violation(subject, f"{key} is for AWS and EKS to set", remedy)
        elif folded in seen:
            yield Violation(subject, f"{key} and {seen[folded]} differ by their case only", remedy)
        seen[folded] = key


RULE = Rule(
    code="PD125",
    severity=Severity.ERROR,
    title="Tags leave alone what AWS and this library set",
    rationale="EC2 refuses the launch template, or the instances cannot be told apart.",
    source=(
        "EC2 User Guide, Tag your Amazon EC2 resources: the prefix aws:; IAM User Guide, Tags for IAM resources: keys "
        "are not case-sensitive"
    ),
    check=check,
)
