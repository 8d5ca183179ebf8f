"""PD173: under network policies Ray uses ports that they name."""

from collections.abc import Iterator
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

# Each makes replicas answer at ports of their own choice (Ray 2.58.0 serve/_private/constants.py; replica.py,
# add_port_to_grpc_server with port 0).
VARIABLES: Final = (
    "RAY_SERVE_ENABLE_DIRECT_INGRESS",
    "RAY_SERVE_ENABLE_HA_PROXY",
    "RAY_SERVE_PROXY_USE_GRPC",
    "RAY_SERVE_THROUGHPUT_OPTIMIZED",
    "RAY_SERVE_USE_GRPC_BY_DEFAULT",
)
OFF: Final = ("", "0")


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each variable that moves requests to other ports."""
    if facts.spec.network_policy is None:
        return
    for path, pod in facts.pods:
        for name in VARIABLES:
            value = pod.environment.get(name, "0")
            if value not in OFF:
                yield Violation(
                    f"{path}.environment.{name}",
                    f"{value}: requests between pods take ports that 0 policies name",
                    "leave it out, or leave network_policy out and write policies of your own",
                )


RULE = Rule(
    code="PD173",
    severity=Severity.ERROR,
    title="Under network policies Ray uses ports that they name",
    rationale="Requests would wait for replicas in other pods until their time is over.",
    source="Ray 2.58.0 serve/_private/constants.py and replica.py",
    check=check,
)
