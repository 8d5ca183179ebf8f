"""PD154: certificate and user pool lie in the deployment's region."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each ARN of another region."""
    balancer, region = facts.spec.endpoint.balancer, facts.spec.region
    arns = {"certificate_arn": balancer.certificate_arn}
    if balancer.cognito is not None:
        arns["cognito.user_pool_arn"] = balancer.cognito.user_pool_arn
    for field, arn in arns.items():
        named = region if arn is None else arn.split(":")[3]
        if named != region:
            what = "a certificate" if field == "certificate_arn" else "a user pool"
            yield Violation(
                f"endpoint.balancer.{field}",
                f"{what} of {named}, the load balancer lies in {region}",
                f"name one of {region}; ACM copies no certificate to another region: request one there",
            )


RULE = Rule(
    code="PD154",
    severity=Severity.ERROR,
    title="The load balancer's certificate and user pool lie in its region",
    rationale="ELB does not find them; the controller logs the error, and the Ingress never gets an address.",
    source="AWS Certificate Manager user guide, Supported Regions; Application Load Balancers user guide, Authenticate "
    "users",
    check=check,
)
