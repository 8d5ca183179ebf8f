import pytest

from constructs_pd.planning.rules.pd102_namespace import RULE
from support.rules import findings_of


@pytest.mark.parametrize("namespace", ["default", "9-lives", "n" * 63])
def test_accepts_a_label_of_up_to_63_characters(namespace: str) -> None:
    assert findings_of(RULE, {"namespace": namespace}) == []


@pytest.mark.parametrize("namespace", ["", "n" * 64, "a.b", "Inference", "-a", "a-", "a\n"])
def test_refuses_what_is_not_a_dns_1123_label(namespace: str) -> None:
    (finding,) = findings_of(RULE, {"namespace": namespace})
    assert finding.subject == "namespace"
    assert f"{len(namespace)} characters" in finding.message
    assert "63" in finding.message


@pytest.mark.parametrize("namespace", ["kube-system", "kube-"])
def test_refuses_kubernetes_own_namespaces(namespace: str) -> None:
    findings = findings_of(RULE, {"namespace": namespace})
    assert len(findings) == 1


def test_accepts_a_name_that_only_begins_alike() -> None:
    assert findings_of(RULE, {"namespace": "kubeflow"}) == []
