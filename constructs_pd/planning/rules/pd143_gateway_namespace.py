"""PD143: the gateway's namespace is a name that Kubernetes accepts."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.gateway import SUFFIX, gateway_namespace
from constructs_pd.planning.rules.pd102_namespace import MAX_CHARACTERS
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a namespace that is too long with what is added to it; PD102 is about the rest."""
    name = gateway_namespace(facts.spec)
    if facts.spec.endpoint.gateway is not None and len(name) > MAX_CHARACTERS >= len(facts.spec.namespace):
        yield Violation(
            "namespace",
            f"the gateway's namespace {name!r} has {len(name)} characters, a namespace at most {MAX_CHARACTERS}",
            f"choose one of at most {MAX_CHARACTERS - len(SUFFIX)} characters",
        )


RULE = Rule(
    code="PD143",
    severity=Severity.ERROR,
    title="The gateway's namespace is a DNS-1123 label",
    rationale="The API server refuses the Namespace and everything in it.",
    source="Kubernetes documentation, Object Names and IDs",
    check=check,
)
