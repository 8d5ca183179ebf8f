"""PD158: programs that have a key are not sent to a login page."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.balancer import at_the_balancer, has_keys
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a login of people in front of the gateway's keys."""
    endpoint = facts.spec.endpoint
    for login in at_the_balancer(endpoint):
        if login in ("oidc", "cognito") and has_keys(endpoint):
            yield Violation(
                f"endpoint.balancer.{login}",
                "2 ways to know a client, one after the other: who has no session's cookie is redirected to the login "
                "page, and OpenAI's clients have a key and no cookie",
                f"leave out {login} or gateway, or acknowledge it where a web page of yours sends both",
            )


RULE = Rule(
    code="PD158",
    severity=Severity.WARNING,
    title="Programs with a key are not sent to a login page",
    rationale="Every OpenAI client outside a signed-in browser gets 302 and a page instead of an answer.",
    source="Application Load Balancers user guide, Authenticate users: OnUnauthenticatedRequest authenticate",
    check=check,
)
