"""What Ray's dashboard says and does: nodes, what waits for resources, and the Serve application.

KubeRay deploys through the same request, PUT /api/serve/applications/.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from constructs_pd.rehearsal.exchange import NoAnswerError, as_json, exchange

_APPLICATIONS: Final = "/api/serve/applications/"


@dataclass(frozen=True)
class Waiting:
    """Something that Ray cannot place.

    Attributes:
        name: The replica or deployment.
        bundles: What it asks for.
    """

    name: str
    bundles: tuple[dict[str, float], ...]


@dataclass(frozen=True)
class Replica:
    """A replica of a Serve deployment.

    Attributes:
        deployment: Name of the deployment, such as `Prefill:qwen`.
        replica_id: Serve's id of it.
        node_id: Ray's id of the node that runs it.
        process: Its process id.
    """

    deployment: str
    replica_id: str
    node_id: str
    process: int


@dataclass(frozen=True)
class Dashboard:
    """The dashboard on a port of the loopback address."""

    port: int

    def living_nodes(self) -> dict[str, dict[str, Any]]:
        """Return the living nodes by id; none while nothing answers."""
        try:
            return {node["node_id"]: node for node in self._state("nodes") if node["state"] == "ALIVE"}
        except NoAnswerError:
            return {}

    def deploy(self, document: dict[str, Any]) -> None:
        """Ask Serve to become what a document says.

        Raises:
            NoAnswerError: Serve refuses; the message is Ray's.
        """
        status, text = exchange(self.port, "PUT", _APPLICATIONS, document, timeout_seconds=120)
        if status >= 300:
            raise NoAnswerError(text[:4000])

    def serve(self) -> dict[str, Any]:
        """Return Serve's state, with every application, deployment and replica."""
        state: dict[str, Any] = as_json(*exchange(self.port, "GET", _APPLICATIONS))
        return state

    def waiting(self) -> list[Waiting]:
        """Return the placement groups and the actors without one that wait for a node."""
        groups = [
            Waiting(_owner(group), tuple(bundle["unit_resources"] for bundle in group["bundles"]))
            for group in self._state("placement_groups")
            if group["state"] == "PENDING"
        ]
        actors = [
            Waiting(actor["name"] or actor["class_name"], (actor["required_resources"] or {},))
            for actor in self._state("actors")
            if actor["state"] == "PENDING_CREATION" and not actor["placement_group_id"]
        ]
        return groups + actors

    def _state(self, kind: str) -> list[dict[str, Any]]:
        data = as_json(*exchange(self.port, "GET", f"/api/v0/{kind}?limit=1000&detail=true"))
        found: list[dict[str, Any]] = data["data"]["result"]["result"]
        return found


def replicas(state: dict[str, Any], application: str) -> list[Replica]:
    """Return the running replicas in Serve's state."""
    deployments = state["applications"][application]["deployments"]
    return [
        Replica(name, replica["replica_id"], replica["node_id"], replica["pid"])
        for name, deployment in deployments.items()
        for replica in deployment["replicas"]
        if replica["state"] == "RUNNING"
    ]


def _owner(group: dict[str, Any]) -> str:
    """Return the replica that a placement group is for: Serve names the group after it."""
    return str(group["name"]).removeprefix("SERVE_REPLICA::") or str(group["placement_group_id"])
