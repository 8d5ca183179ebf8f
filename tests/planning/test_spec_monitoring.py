"""What may be promised, and how a promise of nothing is refused: once."""

from __future__ import annotations

from typing import Any

import pytest

from constructs_pd import PlanError, parse_spec
from support.specs import changed, reference_data

MONITORED: dict[str, Any] = {"monitoring": {}}


def refused(slo: Any) -> list[tuple[str, str, str]]:
    with pytest.raises(PlanError) as caught:
        parse_spec(changed(reference_data(), {**MONITORED, "slo": slo}))
    return [(finding.code, finding.subject, finding.message) for finding in caught.value.findings]


@pytest.mark.parametrize("slo", [{"availability": 0.999}, {"itl_p95_seconds": 0.05}, {"ttft_p95_seconds": 2.0}])
def test_one_promise_is_enough(slo: dict[str, Any]) -> None:
    assert parse_spec(changed(reference_data(), {**MONITORED, "slo": slo})).slo is not None


def test_an_slo_promises_something() -> None:
    assert refused({}) == [("PD004", "slo", "it holds 0 promises")]


def test_a_part_needs_its_whole() -> None:
    ((code, subject, message),) = refused({"ttft_decode_seconds": 0.5, "availability": 0.999})
    assert (code, subject) == ("PD004", "slo")
    assert message == "ttft_decode_seconds is a part of ttft_p95_seconds, which is missing"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("availability", 1.0),
        ("availability", 0.4),
        ("availability", float("nan")),
        ("ttft_p95_seconds", 0),
        ("ttft_p95_seconds", 2561.0),
        ("itl_p95_seconds", 0.009),
        ("itl_p95_seconds", 81.0),
        ("itl_p95_seconds", "0.05"),
    ],
)
def test_a_value_out_of_its_bounds_is_one_mistake(field: str, value: Any) -> None:
    ((code, subject, _),) = refused({field: value})
    assert (code, subject) == ("PD004", f"slo.{field}")


def test_a_whole_out_of_its_bounds_is_one_mistake_beside_its_part() -> None:
    ((code, subject, _),) = refused({"ttft_p95_seconds": 0, "ttft_decode_seconds": 0.5})
    assert (code, subject) == ("PD004", "slo.ttft_p95_seconds")


@pytest.mark.parametrize(
    "url", ["wiki.example.com", "https://wiki.example.com/{{pages", "https://wiki.example.com/?a=b"]
)
def test_pages_of_alerts_are_found_at_an_address_that_no_template_changes(url: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse_spec(changed(reference_data(), {"monitoring": {"runbook_base_url": url}}))
    assert [finding.subject for finding in caught.value.findings] == ["monitoring.runbook_base_url"]
