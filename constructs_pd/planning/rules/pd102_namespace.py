"""PD102: the namespace is a name that Kubernetes accepts."""

import re
from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.spec_types import DNS_1123_LABEL

MAX_CHARACTERS = 63


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a namespace that is too long, of the wrong shape or Kubernetes' own."""
    namespace = facts.spec.namespace
    if len(namespace) > MAX_CHARACTERS or not re.fullmatch(DNS_1123_LABEL, namespace):
        yield Violation(
            "namespace",
            f"{namespace!r} ({len(namespace)} characters) is not a DNS-1123 label of at most {MAX_CHARACTERS}",
            "use lower-case letters, digits and '-', start and end with a letter or digit",
        )
    elif namespace.startswith("kube-"):
        yield Violation("namespace", f"{namespace!r} belongs to Kubernetes (1 of its kube-* names)", "choose another")


RULE = Rule(
    code="PD102",
    severity=Severity.ERROR,
    title="The namespace is a DNS-1123 label, and not one of Kubernetes' own",
    rationale="The API server refuses the Namespace and everything in it.",
    source="Kubernetes documentation, Object Names and IDs",
    check=check,
)
