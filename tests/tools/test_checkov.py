from __future__ import annotations

from typing import Any

import pytest

from tools.checkov.judge import Accepted, Failed, accepted, failures, judge

ROW = Accepted("CKV_K8S_8", ("Pod.inference.a-*", "Job.inference.*"), "KubeRay adds it")
POD, JOB = (Failed("CKV_K8S_8", "Liveness", f"{kind}") for kind in ("Pod.inference.a-head", "Job.inference.check"))


def report(*failed: Failed, errors: int = 0) -> dict[str, Any]:
    checks = [{"check_id": one.check, "check_name": one.name, "resource": one.resource} for one in failed]
    return {"results": {"failed_checks": checks}, "summary": {"parsing_errors": errors}}


def test_what_is_accepted_and_occurs_is_fine() -> None:
    assert judge([POD, JOB], [ROW]) == []


def test_what_nobody_accepted_is_said() -> None:
    other = Failed("CKV_K8S_9", "Readiness", "Pod.inference.a-head")
    elsewhere = Failed("CKV_K8S_8", "Liveness", "Pod.other.b")
    assert judge([POD, JOB, other, elsewhere], [ROW]) == [
        "CKV_K8S_8 Pod.other.b: Liveness",
        "CKV_K8S_9 Pod.inference.a-head: Readiness",
    ]


def test_each_pattern_that_nothing_matches_any_more_is_said() -> None:
    assert judge([POD], [ROW]) == ["CKV_K8S_8 Job.inference.*: accepted, and there are 0 such failures"]
    assert len(judge([], [ROW])) == 2


def test_a_report_has_one_part_or_several() -> None:
    assert list(failures(report(POD))) == [POD]
    assert list(failures([report(POD), report(JOB)])) == [POD, JOB]


@pytest.mark.parametrize("unread", [{"passed": 0, "failed": 0}, report(POD, errors=1)])
def test_a_scan_that_read_nothing_is_no_good_news(unread: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="could not read"):
        list(failures(unread))


def test_every_check_is_accepted_once_and_with_a_reason() -> None:
    rows = accepted()
    assert rows
    assert len({row.check for row in rows}) == len(rows)
    assert all(len(row.reason.split()) > 4 and row.resources for row in rows)
