"""Deploying: what Serve answers, and what is hopeless, becomes one message."""

from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.rehearsal import deploy as deploying
from constructs_pd.rehearsal.dashboard import Dashboard, Waiting
from constructs_pd.rehearsal.deploy import deploy, unoffered
from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.exchange import NoAnswerError, as_json, exchange
from constructs_pd.rehearsal.ports import free_ports

DOCUMENT = {"applications": [{"name": "llm"}]}


def application(state: str, deployed: float = 1.0, **deployment: Any) -> dict[str, Any]:
    own = {"status": "UPDATING", "message": "", "replicas": [], "target_num_replicas": 1, **deployment}
    return {
        "status": state,
        "message": "broken" if "FAIL" in state else "",
        "last_deployed_time_s": deployed,
        "deployments": {"Prefill:own": own},
    }


class Scripted(Dashboard):
    """A dashboard that answers one state after the other."""

    def __init__(self, *states: dict[str, Any], waiting: list[Waiting] | None = None, refusal: str = "") -> None:
        super().__init__(1)
        object.__setattr__(self, "states", list(states))
        object.__setattr__(self, "script", (waiting or [], refusal))

    def deploy(self, document: dict[str, Any]) -> None:
        if self.script[1]:  # type: ignore[attr-defined]
            raise NoAnswerError(self.script[1])  # type: ignore[attr-defined]

    def serve(self) -> dict[str, Any]:
        states: list[dict[str, Any]] = self.states  # type: ignore[attr-defined]
        state = states.pop(0) if len(states) > 1 else states[0]
        return {"applications": {"llm": state} if state else {}}

    def waiting(self) -> list[Waiting]:
        found: list[Waiting] = self.script[0]  # type: ignore[attr-defined]
        return found

    def living_nodes(self) -> dict[str, dict[str, Any]]:
        return {"p": {"resources_total": {"CPU": 4.0, "pd-prefill": 1.0}}}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deploying, "_POLL_SECONDS", 0.0)
    monkeypatch.setattr(deploying, "HOPELESS_SECONDS", 0.05)


def test_it_waits_for_the_new_deployment_and_tells_each_change_once() -> None:
    told: list[str] = []
    old, new = application("RUNNING"), application("DEPLOYING", 2.0)
    running = application("RUNNING", 2.0, status="HEALTHY", replicas=[{"state": "RUNNING"}])
    deploy(Scripted(old, old, new, new, running), DOCUMENT, 10, told.append)
    assert told == ["Prefill:own 0/1 updating", "Prefill:own 1/1 healthy"]


def test_a_refusal_is_rays() -> None:
    with pytest.raises(RehearsalError, match="Serve refuses the configuration: no such field"):
        deploy(Scripted({}, refusal="no such field"), DOCUMENT, 10, lambda _: None)


def test_a_failure_names_the_deployment() -> None:
    failed = application("DEPLOY_FAILED", 2.0, status="DEPLOY_FAILED", message="no such role")
    with pytest.raises(RehearsalError, match="broken\nPrefill:own: no such role"):
        deploy(Scripted({}, failed), DOCUMENT, 10, lambda _: None)


def test_what_no_node_offers_ends_the_wait() -> None:
    waiting = [Waiting("Prefill:own#1", ({"CPU": 2.0, "pd-prefil": 1.0},))]
    with pytest.raises(RehearsalError, match="Prefill:own#1 stays pending: no node offers the resource pd-prefil"):
        deploy(Scripted({}, application("DEPLOYING", 2.0), waiting=waiting), DOCUMENT, 60, lambda _: None)


def test_too_long_is_an_error_with_the_state() -> None:
    with pytest.raises(RehearsalError, match="not running after 0 s: Prefill:own 0/1 updating"):
        deploy(Scripted({}, application("DEPLOYING", 2.0)), DOCUMENT, 0.1, lambda _: None)


def test_what_is_offered_and_taken_is_not_hopeless() -> None:
    nodes = [{"resources_total": {"CPU": 1.0, "pd-prefill": 1.0}}]
    assert unoffered([Waiting("a", ({"CPU": 5.0},))], nodes) == []
    assert unoffered([Waiting("a", ({"CPU_group_12": 5.0},))], nodes) == []


def test_nothing_that_answers_is_an_error() -> None:
    (port,) = free_ports(1)
    with pytest.raises(NoAnswerError, match=f"GET / on port {port}"):
        exchange(port, "GET", "/", timeout_seconds=1)
    assert Dashboard(port).living_nodes() == {}
    with pytest.raises(NoAnswerError, match="status 500: oops"):
        as_json(500, "oops")
    with pytest.raises(NoAnswerError, match="no JSON: oops"):
        as_json(200, "oops")
