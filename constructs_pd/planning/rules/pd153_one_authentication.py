"""PD153: clients are asked in ways that fit together."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.balancer import at_the_balancer, has_keys
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for two ways at the balancer, and for tokens where the gateway wants a key."""
    endpoint = facts.spec.endpoint
    stated = at_the_balancer(endpoint)
    if len(stated) > 1:
        yield Violation(
            "endpoint.balancer",
            f"{len(stated)} ways of authentication at the load balancer ({', '.join(stated)}), which has 1",
            "keep one of them",
        )
    elif stated == ("jwt",) and has_keys(endpoint):
        yield Violation(
            "endpoint.balancer.jwt",
            "the load balancer wants a token and the gateway a key: 2 values for 1 Authorization header",
            "keep balancer.jwt or gateway",
        )


RULE = Rule(
    code="PD153",
    severity=Severity.ERROR,
    title="Clients are asked in ways that fit together",
    rationale="The controller takes one and ignores the other, or refuses the Ingress; with two bearer values no "
    "client gets through.",
    source="AWS Load Balancer Controller 3.5.0 pkg/ingress/auth_config_builder.go and model_build_actions.go",
    check=check,
)
