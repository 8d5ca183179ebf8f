from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd115_single_pod_budget import RULE
from support.rules import findings_of


def test_says_that_upgrades_wait_where_single_pods_are_kept() -> None:
    (finding,) = findings_of(RULE)
    assert finding.severity is Severity.WARNING
    assert finding.message == "1 pod of 1 must stay for head, prefill, decode: node upgrades wait for ever"


def test_says_that_upgrades_stop_the_service_where_they_are_not() -> None:
    (finding,) = findings_of(RULE, {"single_pod_budget": "none"})
    assert "0 pods of 1 must stay for head, prefill, decode: a node upgrade stops the service" in finding.message


def test_groups_of_two_pods_are_not_named_but_the_head_always_is() -> None:
    (finding,) = findings_of(RULE, {"prefill.replicas": 2, "decode.replicas": 2})
    assert "1 pod of 1 must stay for head:" in finding.message


def test_each_group_can_say_it_for_itself() -> None:
    kept, free = findings_of(RULE, {"single_pod_budget": "none", "head": {"single_pod_budget": "block"}})
    assert kept.subject == "head.single_pod_budget"
    assert "1 pod of 1 must stay for head:" in kept.message
    assert free.subject == "single_pod_budget"
    assert "0 pods of 1 must stay for prefill, decode:" in free.message
