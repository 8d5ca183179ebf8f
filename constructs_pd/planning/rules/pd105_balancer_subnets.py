"""PD105: a load balancer has subnets in two zones or more."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

MIN_SUBNETS = 2


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for one subnet, for a subnet named twice, and for subnets without a balancer."""
    endpoint = facts.spec.endpoint
    subnets = endpoint.subnet_ids
    if endpoint.exposure == "cluster" and subnets:
        yield Violation(
            "endpoint.subnet_ids",
            f"{len(subnets)} subnets for a load balancer, but exposure is 'cluster'",
            "set exposure to 'internal_alb' or 'internet_alb', or remove the subnets",
        )
    elif subnets and len(set(subnets)) < MIN_SUBNETS:
        yield Violation(
            "endpoint.subnet_ids",
            f"{len(set(subnets))} subnet, an Application Load Balancer needs at least {MIN_SUBNETS}",
            "name one subnet in each of two zones or more; the zone of the GPU nodes alone is not enough",
        )
    elif len(set(subnets)) < len(subnets):
        yield Violation(
            "endpoint.subnet_ids",
            f"{len(subnets)} subnets, only {len(set(subnets))} different ones",
            "name each subnet once",
        )


RULE = Rule(
    code="PD105",
    severity=Severity.ERROR,
    title="A load balancer has subnets in two zones or more",
    rationale="The load balancer controller cannot create the balancer; the Ingress never gets an address.",
    source="kubernetes-sigs/aws-load-balancer-controller#886, #1693",
    check=check,
)
