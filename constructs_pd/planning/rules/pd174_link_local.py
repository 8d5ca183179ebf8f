"""PD174: network policies open link-local addresses by name alone."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.network_policies import LINK_LOCAL
from constructs_pd.planning.rules.pd127_vpc_cidr import network_of
from constructs_pd.planning.rules.pd169_policy_ranges import FIELDS
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each range of link-local addresses; of a wider one they are left out."""
    stated, link_local = facts.spec.network_policy, IPv4Network(LINK_LOCAL)
    if stated is None:
        return
    for field in FIELDS:
        for index, text in enumerate(getattr(stated, field)):
            network = network_of(text)
            if network is not None and network.subnet_of(link_local):
                yield Violation(
                    f"network_policy.{field}.{index}",
                    f"{text} lies in {LINK_LOCAL}, where a node's metadata and credentials are",
                    "state credentials or node_local_dns for what is needed of it",
                )


RULE = Rule(
    code="PD174",
    severity=Severity.ERROR,
    title="Network policies open link-local addresses by name alone",
    rationale="What looks like an address of the network would be the credentials of the node.",
    source="EC2 User Guide, Use the instance metadata service; IANA IPv4 Special-Purpose Address Registry",
    check=check,
)
