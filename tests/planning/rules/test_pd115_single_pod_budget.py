from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd115_single_pod_budget import RULE
from support.rules import findings_of


def test_says_that_upgrades_wait_where_single_pods_are_kept() -> None:
    (finding,) = findings_of(RULE)
    assert finding.severity is Severity.WARNING
    assert finding.message == "3 groups of 1 pod (head, prefill, decode) keep 1 available: node upgrades wait for ever"


def test_says_that_upgrades_stop_the_service_where_they_are_not() -> None:
    (finding,) = findings_of(RULE, {"single_pod_budget": "none"})
    assert "no budget: a node upgrade stops the service" in finding.message


def test_groups_of_two_pods_are_not_named_but_the_head_always_is() -> None:
    (finding,) = findings_of(RULE, {"prefill.replicas": 2, "decode.replicas": 2})
    assert "1 groups of 1 pod (head)" in finding.message
