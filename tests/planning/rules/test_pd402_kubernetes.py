import pytest

from constructs_pd.planning.rules.pd402_kubernetes import RULE
from support.rules import findings_of


@pytest.mark.parametrize("version", ["1.32", "1.33", "1.34", "1.35", "1.36"])
def test_accepts_what_eks_runs(version: str) -> None:
    assert findings_of(RULE, {"kubernetes_version": version}) == []


@pytest.mark.parametrize("version", ["1.31", "1.37", "1.9", "1.350"])
def test_refuses_everything_else_and_lists_what_runs(version: str) -> None:
    (finding,) = findings_of(RULE, {"kubernetes_version": version})
    assert version in finding.message
    assert "1.32 to 1.36" in finding.message
    assert finding.remedy == "choose one of 1.32, 1.33, 1.34, 1.35, 1.36"
