import pytest

from constructs_pd.planning.rules.pd404_kuberay import RULE
from support.rules import findings_of


def test_accepts_the_release_that_was_checked() -> None:
    assert findings_of(RULE) == []


@pytest.mark.parametrize("version", ["1.4.0", "1.7", "v1.7.0", "1.7.1"])
def test_refuses_others(version: str) -> None:
    (finding,) = findings_of(RULE, {"kuberay_version": version})
    assert repr(version) in finding.message
    assert finding.remedy == "use 1.7.0"
