"""Deploys a Serve configuration and waits, naming what stands in the way as soon as that is certain."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from constructs_pd.rehearsal.dashboard import Dashboard, Waiting
from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.exchange import NoAnswerError

_POLL_SECONDS: Final = 0.5
#: How long something may wait for a resource that no node offers: Ray states a demand before it places it.
HOPELESS_SECONDS: Final = 5.0


def deploy(dashboard: Dashboard, document: dict[str, Any], timeout_seconds: float, tell: Callable[[str], None]) -> None:
    """Deploy a configuration and return when its application runs.

    Raises:
        RehearsalError: Ray refuses it, a replica fails, nothing can ever run it, or it takes too long.
    """
    name = document["applications"][0]["name"]
    before = _deployed_at(dashboard, name)
    try:
        dashboard.deploy(document)
    except NoAnswerError as error:
        raise RehearsalError(f"Ray Serve refuses the configuration: {error}", "see Ray's message") from None
    deadline = time.monotonic() + timeout_seconds
    hopeless_since: float | None = None
    told = ""
    while time.monotonic() < deadline:
        application = _application(dashboard, name)
        if application.get("last_deployed_time_s", 0) > before:
            told = _progress(application, told, tell)
            if application["status"] == "RUNNING":
                return
            if application["status"] in {"DEPLOY_FAILED", "UNHEALTHY"}:
                raise RehearsalError(_failure(application), "see Ray's message above")
        hopeless = _hopeless(dashboard)
        hopeless_since = (hopeless_since or time.monotonic()) if hopeless else None
        if hopeless_since is not None and time.monotonic() - hopeless_since > HOPELESS_SECONDS:
            raise RehearsalError("\n".join(hopeless), "what a bundle asks for must be what a pod of the plan offers")
        time.sleep(_POLL_SECONDS)
    raise RehearsalError(
        f"not running after {timeout_seconds:.0f} s: {_progress(_application(dashboard, name), '', lambda _: None)}",
        "allow more with --timeout",
    )


def unoffered(waiting: Iterable[Waiting], nodes: Iterable[Mapping[str, Any]]) -> list[str]:
    """Say of everything that waits for a resource that no node offers, which it is."""
    offered = {name for node in nodes for name in node["resources_total"]}
    found = []
    for each in waiting:
        missing = sorted({name for bundle in each.bundles for name in bundle} - offered)
        # Ray names what it reserves for a placement group, which is no resource of a node.
        missing = [name for name in missing if "_group_" not in name]
        if missing:
            found.append(f"{each.name} stays pending: no node offers the resource {', '.join(missing)}")
    return sorted(set(found))


def _hopeless(dashboard: Dashboard) -> list[str]:
    try:
        return unoffered(dashboard.waiting(), dashboard.living_nodes().values())
    except NoAnswerError:
        return []


def _application(dashboard: Dashboard, name: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = dashboard.serve()["applications"].get(name, {})
    except NoAnswerError:
        return {}
    return found


def _deployed_at(dashboard: Dashboard, name: str) -> float:
    return float(_application(dashboard, name).get("last_deployed_time_s", 0))


def _progress(application: dict[str, Any], told: str, tell: Callable[[str], None]) -> str:
    """Tell of the deployments where something has changed."""
    parts = []
    for name, deployment in application.get("deployments", {}).items():
        running = sum(replica["state"] == "RUNNING" for replica in deployment["replicas"])
        parts.append(f"{name} {running}/{deployment['target_num_replicas']} {deployment['status'].lower()}")
    text = ", ".join(sorted(parts)) or str(application.get("status", "no answer")).lower()
    if text != told:
        tell(text)
    return text


def _failure(application: dict[str, Any]) -> str:
    messages = [application["message"]] + [
        f"{name}: {deployment['message']}"
        for name, deployment in application["deployments"].items()
        if deployment["status"] not in {"HEALTHY", "UPDATING"}
    ]
    return "\n".join(message for message in messages if message)
