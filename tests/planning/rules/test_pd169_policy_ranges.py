from __future__ import annotations

import pytest

from constructs_pd.planning.rules.pd169_policy_ranges import FIELDS, RULE
from support.rules import findings_of


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("cidr", ["0.0.0.0/0", "10.0.0.0/16", "8.8.8.8/32"])
def test_accepts_ranges(field: str, cidr: str) -> None:
    assert findings_of(RULE, {"network_policy": {field: [cidr]}}) == []


def test_says_nothing_where_there_is_no_policy() -> None:
    assert findings_of(RULE) == []


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("cidr", ["10.0.0.1/16", "10.0.0.0/33", "999.0.0.0/8"])
def test_refuses_what_is_none(field: str, cidr: str) -> None:
    (finding,) = findings_of(RULE, {"network_policy": {field: ["10.0.0.0/16", cidr]}})
    assert finding.subject == f"network_policy.{field}.1"
    assert finding.message == f"{cidr} is no range of IPv4 addresses"
