"""PD150: what is said of the load balancer has a load balancer."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a balancer's fields beside an endpoint that has none."""
    endpoint = facts.spec.endpoint
    stated = sorted(endpoint.balancer.model_fields_set)
    if endpoint.exposure == "cluster" and stated:
        yield Violation(
            "endpoint.balancer",
            f"{len(stated)} fields of a load balancer ({', '.join(stated)}), but exposure is 'cluster': there is none",
            "set exposure to 'internal_alb' or 'internet_alb', or remove them",
        )


RULE = Rule(
    code="PD150",
    severity=Severity.ERROR,
    title="What is said of the load balancer has a load balancer",
    rationale="A certificate, a login or access logs would be believed to be there.",
    source="this library",
    check=check,
)
