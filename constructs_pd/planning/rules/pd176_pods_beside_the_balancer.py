"""PD176: network policies keep pods from the endpoint where nothing else asks who they are."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.balancer import has_keys
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for an internal balancer of a new cluster, whose addresses are those of nodes and pods."""
    spec = facts.spec
    stated, cluster = spec.network_policy, spec.eks_cluster
    if stated is None or cluster is None or spec.endpoint.exposure != "internal_alb":
        return
    if stated.balancer_cidrs or has_keys(spec.endpoint):
        return
    yield Violation(
        "network_policy.balancer_cidrs",
        f"the balancer has addresses of the private subnets of {cluster.vpc_cidr}, and so has every pod: any of them "
        "reaches Ray Serve, which has 0 ways to ask who it is",
        "state endpoint.gateway, which asks for keys",
    )


RULE = Rule(
    code="PD176",
    severity=Severity.WARNING,
    title="Network policies keep pods from an endpoint that asks for no keys",
    rationale="A policy knows the balancer by its addresses alone, and is believed to guard the model from other pods.",
    source="Kubernetes API, IPBlock; AWS Load Balancer Controller: a balancer has addresses of its subnets",
    check=check,
)
