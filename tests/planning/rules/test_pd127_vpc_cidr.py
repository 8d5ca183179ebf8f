import pytest

from constructs_pd.findings import Finding
from constructs_pd.planning.rules.pd127_vpc_cidr import RULE
from support.rules import findings_of

ZONES = {"eks_cluster.other_zones": ["us-west-2b"]}
NO_RANGES = ["999.1.1.1/16", "10.0.0.1/16", "10.0.0.0/33", "010.0.0.0/16"]


def of_the_network(cidr: str) -> list[Finding]:
    return findings_of(RULE, {**ZONES, "eks_cluster.vpc_cidr": cidr})


@pytest.mark.parametrize("cidr", ["10.0.0.0/16", "172.20.0.0/18", "10.1.16.0/20"])
def test_accepts_a_network_that_can_be_divided(cidr: str) -> None:
    assert of_the_network(cidr) == []


def test_says_nothing_of_a_cluster_that_exists() -> None:
    assert findings_of(RULE) == []


@pytest.mark.parametrize(("cidr", "size"), [("10.0.0.0/15", 15), ("10.1.16.0/21", 21), ("0.0.0.0/0", 0)])
def test_refuses_a_network_one_size_too_large_or_too_small(cidr: str, size: int) -> None:
    (finding,) = of_the_network(cidr)
    assert finding.subject == "eks_cluster.vpc_cidr"
    assert finding.message == f"a /{size}, a network here is a /16 to /20"


@pytest.mark.parametrize("cidr", ["10.0.0.0/8", "10.1.2.3/32", "172.31.0.0/16", "192.168.0.0/24"])
def test_refuses_private_addresses_over_the_internet(cidr: str) -> None:
    (finding,) = findings_of(RULE, {**ZONES, "eks_cluster.public_access_cidrs": ["172.0.0.0/8", cidr]})
    assert finding.subject == "eks_cluster.public_access_cidrs.1"
    assert "private addresses" in finding.message


@pytest.mark.parametrize(
    ("cidr", "count"),
    [
        ("198.51.100.7/32", "1"),
        ("203.0.113.0/24", "256"),
        ("192.0.2.0/25", "128"),
        ("198.18.0.0/15", "131,072"),
        ("100.64.0.0/10", "4,194,304"),
        ("127.0.0.1/32", "1"),
        ("169.254.0.0/16", "65,536"),
        ("224.0.0.0/24", "256"),
        ("240.0.0.0/24", "256"),
    ],
)
def test_refuses_addresses_of_special_use_over_the_internet(cidr: str, count: str) -> None:
    (finding,) = findings_of(RULE, {**ZONES, "eks_cluster.public_access_cidrs": ["8.8.8.8/32", cidr]})
    assert finding.subject == "eks_cluster.public_access_cidrs.1"
    assert finding.message == f"{cidr} are {count} special addresses, none of which comes over the internet"


@pytest.mark.parametrize("cidr", ["0.0.0.0/16", "127.0.0.0/20", "169.254.0.0/16", "224.0.0.0/16", "255.255.0.0/16"])
def test_refuses_a_network_of_addresses_with_a_meaning_of_their_own(cidr: str) -> None:
    (finding,) = of_the_network(cidr)
    assert finding.message == f"{cidr} lies in a range with a meaning of its own"


@pytest.mark.parametrize("cidr", NO_RANGES)
def test_refuses_a_network_that_is_no_range(cidr: str) -> None:
    (finding,) = of_the_network(cidr)
    assert finding.message == f"{cidr} is no range of IPv4 addresses"
    assert finding.remedy == "name a range from /16 to /20 on its boundary, such as 10.0.0.0/16"


@pytest.mark.parametrize("cidr", [*NO_RANGES, "10.0.0.0/08"])
def test_refuses_what_is_no_range_that_reaches_the_api(cidr: str) -> None:
    (finding,) = findings_of(RULE, {**ZONES, "eks_cluster.public_access_cidrs": ["0.0.0.0/0", "8.8.8.8/32", cidr]})
    assert finding.subject == "eks_cluster.public_access_cidrs.2"
    assert finding.message == f"{cidr} is no range of IPv4 addresses"
