import pytest

from constructs_pd.findings import Finding, Severity
from constructs_pd.planning.rules.pd129_open_api import RULE
from support.rules import findings_of


def of_addresses(*cidrs: str) -> list[Finding]:
    return findings_of(
        RULE, {"eks_cluster.other_zones": ["us-west-2b"], "eks_cluster.public_access_cidrs": list(cidrs)}
    )


@pytest.mark.parametrize("cidrs", [(), ("8.8.8.8/32",), ("9.9.9.0/24", "17.0.0.0/8")])
def test_accepts_addresses_that_are_somebodys(cidrs: tuple[str, ...]) -> None:
    assert of_addresses(*cidrs) == []


def test_says_nothing_of_a_cluster_that_exists() -> None:
    assert findings_of(RULE) == []


@pytest.mark.parametrize(("cidr", "addresses"), [("0.0.0.0/0", "4,294,967,296"), ("16.0.0.0/7", "33,554,432")])
def test_warns_of_addresses_that_are_anybodys(cidr: str, addresses: str) -> None:
    (finding,) = of_addresses("8.8.8.8/32", cidr)
    assert finding.severity is Severity.WARNING
    assert finding.subject == "eks_cluster.public_access_cidrs.1"
    assert finding.message == f"{addresses} addresses reach the Kubernetes API's sign-in"


def test_leaves_what_is_no_range_to_its_own_rule() -> None:
    assert of_addresses("999.1.1.1/0") == []
