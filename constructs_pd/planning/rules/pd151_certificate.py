"""PD151: a load balancer that promises TLS has a certificate."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.balancer import at_the_balancer
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield one violation that names everything that needs a certificate where there is none."""
    endpoint = facts.spec.endpoint
    balancer = endpoint.balancer
    if endpoint.exposure == "cluster" or balancer.certificate_arn is not None:
        return
    needs = ["exposure 'internet_alb'"] if endpoint.exposure == "internet_alb" else []
    needs += [f"balancer.{name}" for name in ("host", "tls_policy") if name in balancer.model_fields_set]
    needs += [f"balancer.{name}" for name in at_the_balancer(endpoint)]
    if needs:
        yield Violation(
            "endpoint.balancer.certificate_arn",
            f"the load balancer has 0 certificates, HTTP only, and needs 1 for {' and '.join(needs)}",
            f"state the ARN of an ACM certificate in {facts.spec.region} as certificate_arn",
        )


RULE = Rule(
    code="PD151",
    severity=Severity.ERROR,
    title="A load balancer on the internet, with a host or with a login has a certificate",
    rationale="Keys, prompts and answers would cross the network in clear text; a login works on HTTPS listeners only.",
    source="AWS Load Balancer Controller 3.5.0 docs/guide/ingress/annotations.md, Authentication and TLS",
    check=check,
)
