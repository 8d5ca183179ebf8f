"""A Ray cluster on this machine: one raylet per planned pod, all of them on the loopback address."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from constructs_pd.rehearsal.dashboard import Dashboard
from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.nodes import NODE_ADDRESS, PlannedNode
from constructs_pd.rehearsal.observability import local_variables
from constructs_pd.rehearsal.ports import free_ports
from constructs_pd.rehearsal.supervised import Supervised

#: Ray's smallest object store is 75 MiB (ray_constants.py); nothing large goes through it here.
OBJECT_STORE_BYTES: Final = 100 * 1024**2
START_SECONDS: Final = 320.0
_RAY_NODE: Final = Path(__file__).with_name("ray_node.py")
_POLL_SECONDS: Final = 0.25
_NODE_PORTS: Final = (
    "node-manager-port",
    "object-manager-port",
    "dashboard-agent-listen-port",
    "dashboard-agent-grpc-port",
    "runtime-env-agent-port",
    "metrics-export-port",
)
_HEAD_PORTS: Final = ("port", "dashboard-port", "ray-client-server-port")

# Of the raylets, over what the pods have.
RAY_ENVIRONMENT: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Counters are read a second after the work, instead of ten.
    "RAY_metrics_report_interval_ms": "500",
    "RAY_SERVE_METRICS_EXPORT_INTERVAL_MS": "500",
    "RAY_DISABLE_IMPORT_WARNING": "1",
    # 30 s by default (Ray 2.58.0, dashboard/consts.py), which a busy machine does not keep.
    "RAY_DASHBOARD_SUBPROCESS_MODULE_WAIT_READY_TIMEOUT": "300",
}


@dataclass(frozen=True)
class RayNode:
    """A raylet.

    Attributes:
        planned: The pod that it stands for.
        metrics_port: Where its agent exports the metrics of its processes.
        process: The process that all others of the node descend from.
        argv: The command that started it.
        environment: Its environment.
    """

    planned: PlannedNode
    metrics_port: int
    process: int
    argv: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True)
class LocalRay:
    """A running cluster.

    Attributes:
        nodes: Its raylets by Ray's id of the node.
        dashboard: What answers for it.
    """

    nodes: dict[str, RayNode]
    dashboard: Dashboard


def start_ray(
    planned: Sequence[PlannedNode],
    python: Path,
    environment: Mapping[str, str],
    supervised: Supervised,
    tell: Callable[[str], None],
) -> LocalRay:
    """Start the raylets and wait until all of them are members.

    Args:
        planned: The pods, head first.
        python: The interpreter with Ray.
        environment: Variables of every raylet, over those of its pod.
        supervised: What runs and ends them.
        tell: Where progress goes.

    Raises:
        RehearsalError: One ended, or is no member in time.
    """
    ports = iter(free_ports(len(_HEAD_PORTS) + len(_NODE_PORTS) * len(planned)))
    head_ports = {name: next(ports) for name in _HEAD_PORTS}
    node_ports = {node.name: {name: next(ports) for name in _NODE_PORTS} for node in planned}
    dashboard = Dashboard(head_ports["dashboard-port"])
    ray = LocalRay({}, dashboard)
    # The control plane first, then all others at once.
    for group in (planned[:1], planned[1:]):
        started = []
        for node in group:
            ports_of_node = node_ports[node.name]
            argv = (str(python), *ray_start(node, ports_of_node, head_ports, supervised.folder))
            variables = local_variables(node.environment, {**RAY_ENVIRONMENT, **environment}, supervised.folder)
            process = supervised.start(argv, variables, node.name)
            started.append(RayNode(node, ports_of_node["metrics-export-port"], process, argv, variables))
        _join(ray, supervised, started, tell)
    return ray


def restart(ray: LocalRay, node_id: str, supervised: Supervised, tell: Callable[[str], None]) -> None:
    """Start a node again that has ended, as the kubelet does with the container of a pod; it gets another id.

    Raises:
        RehearsalError: It does not end, or is no member in time.
    """
    node = ray.nodes.pop(node_id)
    deadline = time.monotonic() + START_SECONDS
    while supervised.runs(node.process):
        if time.monotonic() > deadline:
            raise RehearsalError(f"{node.planned.name} still runs after {START_SECONDS:.0f} s", "try again")
        time.sleep(_POLL_SECONDS)
    process = supervised.start(node.argv, node.environment, node.planned.name)
    _join(ray, supervised, [replace(node, process=process)], tell, old={node_id})


def ray_start(
    node: PlannedNode, node_ports: Mapping[str, int], head_ports: Mapping[str, int], folder: Path
) -> list[str]:
    """Return the arguments of `python` that run one node until it is told to end."""
    joining = (
        [
            "--head",
            *(f"--{name}={port}" for name, port in head_ports.items()),
            f"--dashboard-host={NODE_ADDRESS}",
            "--include-dashboard=true",
        ]
        if node.is_head
        else [f"--address={NODE_ADDRESS}:{head_ports['port']}"]
    )
    return [
        *("-P", str(_RAY_NODE), "start", "--block", "--disable-usage-stats", f"--node-name={node.name}"),
        *joining,
        f"--node-ip-address={NODE_ADDRESS}",
        "--no-monitor",  # of the autoscaler, which KubeRay keeps off
        # One each, as pods have: raylets that start at once in one folder take the same name for their sockets.
        f"--temp-dir={folder / node.name}",
        f"--num-cpus={node.cpus}",
        f"--num-gpus={node.gpus}",
        f"--memory={node.memory_bytes}",
        f"--object-store-memory={OBJECT_STORE_BYTES}",
        f"--resources={json.dumps(node.resources, sort_keys=True)}",
        # Any free port: the default range would be shared by all raylets of this machine.
        *("--min-worker-port=0", "--max-worker-port=0"),
        *(f"--{name}={port}" for name, port in node_ports.items()),
        *([f"--labels={_labels(node)}"] if node.labels else []),
    ]


def resources_text(node: PlannedNode) -> str:
    """Return what a node offers, for people."""
    offered = {"CPU": float(node.cpus), "GPU": float(node.gpus), **node.resources}
    return ", ".join(f"{name} {amount:g}" for name, amount in offered.items() if amount) or "nothing"


def _labels(node: PlannedNode) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(node.labels.items()))


def _join(
    ray: LocalRay,
    supervised: Supervised,
    started: Sequence[RayNode],
    tell: Callable[[str], None],
    old: Collection[str] = (),
) -> None:
    """Wait until nodes are members, and note them by their ids; Ray may know one of their names by an old id."""
    nodes = {node.planned.name: node for node in started}
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        living = ray.dashboard.living_nodes()
        members = {living[identity]["node_name"]: identity for identity in living.keys() - set(old)}
        if nodes.keys() <= members.keys():
            for name, node in nodes.items():
                ray.nodes[members[name]] = node
                tell(f"{name} is a Ray node with {resources_text(node.planned)}")
            return
        for name, node in nodes.items():
            if not supervised.runs(node.process):
                raise RehearsalError(
                    f"Ray's node {name} ended:\n{supervised.last_lines(name)}", "see Ray's message above"
                )
        time.sleep(_POLL_SECONDS)
    late = ", ".join(sorted(nodes.keys() - members.keys()))
    raise RehearsalError(
        f"not a Ray node after {START_SECONDS:.0f} s: {late}", "try again when the machine has less to do"
    )
