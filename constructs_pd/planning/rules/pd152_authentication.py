"""PD152: an endpoint on the internet knows its clients."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.balancer import at_the_balancer, has_keys
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for an internet-facing load balancer that lets everybody through."""
    endpoint = facts.spec.endpoint
    if endpoint.exposure == "internet_alb" and not has_keys(endpoint) and not at_the_balancer(endpoint):
        yield Violation(
            "endpoint.exposure",
            "'internet_alb' with 0 ways of authentication: anybody could use the model, at your cost",
            "state endpoint.gateway for keys, or endpoint.balancer.jwt for tokens, or oidc or cognito for people with "
            "a browser, or set exposure to 'internal_alb'",
        )


RULE = Rule(
    code="PD152",
    severity=Severity.ERROR,
    title="An endpoint on the internet knows its clients",
    rationale="Ray Serve LLM has no authentication of its own (ray-project/ray#59578), so nothing behind the balancer "
    "asks.",
    source="ray-project/ray#59578; Application Load Balancers user guide, Authenticate users, Verify JWTs",
    check=check,
)
