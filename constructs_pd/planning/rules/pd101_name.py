"""PD101: the deployment's name is one that KubeRay accepts."""

import re
from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.spec_types import DNS_1035_LABEL

# A Service of the first exists in the namespace default, a ServiceAccount of the second in every namespace.
RESERVED = ("kubernetes", "default")


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a name that is too long, and one for a name of the wrong shape."""
    name = facts.spec.name
    longest = facts.kuberay.max_rayservice_name_characters if facts.kuberay else None
    if longest is not None and len(name) > longest:
        yield Violation(
            "name",
            f"{len(name)} characters, KubeRay accepts at most {longest}",
            f"shorten it by {len(name) - longest}, for example to {name[:longest].rstrip('-')!r}",
        )
    if name in RESERVED:
        yield Violation("name", f"{name!r} names an object that Kubernetes owns", "choose a name of your own")
    if not re.fullmatch(DNS_1035_LABEL, name):
        yield Violation(
            "name",
            f"{name!r} is not a DNS-1035 label",
            "use lower-case letters, digits and '-', start with a letter, end with a letter or digit",
        )


RULE = Rule(
    code="PD101",
    severity=Severity.ERROR,
    title="The name is a DNS-1035 label that KubeRay accepts",
    rationale="The API server accepts the RayService and the operator then refuses it at reconcile: nothing starts.",
    source="KubeRay 1.7.0 validation.go, ValidateRayServiceMetadata",
    check=check,
)
