"""The conformance suite over a rehearsal's endpoint."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from constructs_pd.conformance import checks
from constructs_pd.rehearsal.conformance import conformance_checks
from support.openai_stub import MODEL, Stub, running
from support.specs import plan_with


def test_no_proxy_is_asked_for_an_endpoint_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    # CF105 asks with OpenAI's own client.
    some = tuple(check for check in checks.CHECKS if check.id in ("CF101", "CF105"))
    monkeypatch.setattr(checks, "CHECKS", some)
    with running(Stub()) as url:
        (check,) = conformance_checks(plan_with({"model.served_name": MODEL}), urlsplit(url).port or 0, lambda _: None)
    assert (check.passed, check.detail) == (True, "2 passed, 0 failed, 0 unsupported, 0 known deviation")
