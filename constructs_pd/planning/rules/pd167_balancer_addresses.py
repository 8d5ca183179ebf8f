"""PD167: network policies let the load balancer reach the endpoint."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a balancer whose addresses are not known."""
    stated, exposure = facts.spec.network_policy, facts.spec.endpoint.exposure
    if stated is None or exposure == "cluster" or facts.spec.eks_cluster is not None or stated.balancer_cidrs:
        return
    subnets = len(facts.spec.endpoint.subnet_ids)
    of_them = f"the {subnets} of endpoint.subnet_ids" if subnets else "those that its tag finds"
    yield Violation(
        "network_policy.balancer_cidrs",
        f"0 ranges, and the balancer of exposure {exposure} reaches pods from the addresses of its subnets",
        f"name the ranges of its subnets, {of_them} (aws ec2 describe-subnets: CidrBlock)",
    )


RULE = Rule(
    code="PD167",
    severity=Severity.ERROR,
    title="Network policies let the load balancer reach the endpoint",
    rationale="Its health checks would be denied, and every request be answered with 503 or 504.",
    source="AWS Load Balancer Controller, target-type ip: the balancer sends to the pods' addresses from its own",
    check=check,
)
