import pytest

from constructs_pd.planning.rules.pd409_ami_release import RULE
from support.rules import findings_of

RELEASE = {"nodes.ami_release_version": "1.35.2-20261101"}
AMI = "ami-0123456789abcdef0"


@pytest.mark.parametrize("phases", [{}, {"prefill.ami_id": AMI}])
def test_accepts_a_release_of_the_version_that_a_phase_uses(phases: dict[str, str]) -> None:
    assert findings_of(RULE, {**RELEASE, **phases}) == []


def test_accepts_no_release() -> None:
    assert findings_of(RULE, {"prefill.ami_id": AMI, "decode.ami_id": AMI}) == []


@pytest.mark.parametrize("version", ["1.36", "1.3", "1.34"])
def test_refuses_a_release_of_another_version(version: str) -> None:
    (finding,) = findings_of(RULE, {**RELEASE, "kubernetes_version": version})
    assert finding.message == f"1.35.2-20261101 is a release for Kubernetes 1.35, the cluster is {version}"


def test_refuses_a_release_that_no_phase_uses() -> None:
    (finding,) = findings_of(RULE, {**RELEASE, "prefill.ami_id": AMI, "decode.ami_id": AMI})
    assert "0 of 2 phases use it" in finding.message
