import pytest

from constructs_pd.planning.rules.pd111_owned_metadata import RULE
from support.rules import findings_of


def test_accepts_keys_of_ones_own() -> None:
    pod = {"labels": {"team": "search", "app.kubernetes.io/version": "1"}, "annotations": {"example.com/a": "b"}}
    assert findings_of(RULE, {"decode.pod": pod, "labels": {"cost-center": "7"}}) == []


@pytest.mark.parametrize("key", ["constructs-pd/role", "ray.io/cluster", "app.kubernetes.io/name"])
@pytest.mark.parametrize("path", ["labels", "head.pod.labels", "prefill.pod.labels", "decode.pod.annotations"])
def test_refuses_keys_of_the_library_and_the_operator(path: str, key: str) -> None:
    (finding,) = findings_of(RULE, {path: {key: "x"}})
    assert finding.subject == f"{path}.{key}"


def test_refuses_the_old_way_to_fault_tolerance() -> None:
    (finding,) = findings_of(RULE, {"head.pod.annotations": {"ray.io/ft-enabled": "true"}})
    assert "gcs_fault_tolerance" in finding.message
