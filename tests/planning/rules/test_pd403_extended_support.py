import pytest

from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd403_extended_support import RULE
from support.rules import findings_of


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36", "1.31"])
def test_accepts_standard_support_and_leaves_unknown_versions_to_their_own_rule(version: str) -> None:
    assert findings_of(RULE, {"kubernetes_version": version}) == []


def test_warns_of_extended_support_with_both_dates() -> None:
    (finding,) = findings_of(RULE, {"kubernetes_version": "1.33"})
    assert finding.severity is Severity.WARNING
    assert "2026-07-29" in finding.message
    assert "2027-07-29" in finding.message
    assert finding.remedy == "move to 1.36"
