import pytest

from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd161_node_upgrade import RULE
from support.gateway import GATEWAY
from support.rules import findings_of

GENERATION = "endpoint.longest_generation_seconds"


@pytest.mark.parametrize("generation", [1, 600, 830])
def test_accepts_pods_that_end_within_an_upgrade(generation: int) -> None:
    assert findings_of(RULE, {GENERATION: generation}) == []


def test_warns_of_pods_that_take_longer() -> None:
    (finding,) = findings_of(RULE, {GENERATION: 831})
    assert finding.severity is Severity.WARNING
    assert finding.subject == GENERATION
    assert finding.message == "a pod may take 901 s to end, an upgrade of its node group waits 900 s"
    assert "shorten it by 1 s" in finding.remedy


def test_a_pod_of_the_gateway_takes_longer_than_one_of_rays() -> None:
    (finding,) = findings_of(RULE, {GENERATION: 830, "endpoint.gateway": GATEWAY})
    assert finding.message.startswith("a pod may take 930 s to end")
    assert findings_of(RULE, {GENERATION: 800, "endpoint.gateway": GATEWAY}) == []


def test_names_the_drain_where_it_is_stated() -> None:
    (finding,) = findings_of(RULE, {"drain_seconds": 1000})
    assert finding.subject == "drain_seconds"
