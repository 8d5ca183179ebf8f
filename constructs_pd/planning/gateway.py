"""What the gateway is, decided: nothing else in the package has a default of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from constructs_pd.planning import defaults
from constructs_pd.planning.gateway_plan import GatewayPlan
from constructs_pd.planning.labels import labels, role_labels
from constructs_pd.planning.observability import sampled_per_million

if TYPE_CHECKING:
    from constructs_pd.planning.deployment_plan import TimeoutsPlan
    from constructs_pd.planning.spec import DeploymentSpec
    from constructs_pd.planning.spec_gateway import Gateway

SUFFIX: Final = "-gateway"
CONTAINER_PORT: Final = 8080
HEALTH_PORT: Final = 8081
# The kubelet brings a changed Secret into a pod within about a minute; this is added to it.
RELOAD_SECONDS: Final = 5
# 1,500 streams at once took 27 MiB, and 19 microseconds of CPU for each of their events (HAProxy 2.8.25, one thread of
# a virtual machine, 2026-11-30). Were both buffers of 16 KiB of every connection full, they would take 62 MiB more.
MAX_CONNECTIONS: Final = 2000
MEMORY_MIB: Final = 256
CPU_REQUEST_MILLICORES: Final = 250
# One thread: then nothing comes between the look at a limit and the count against it.
CPU_LIMIT_CORES: Final = 1
HEADER_SECONDS: Final = 10
CONNECT_SECONDS: Final = 5
CHECK_SECONDS: Final = 5
_SECONDS_PER_MINUTE: Final = 60


def gateway_namespace(spec: DeploymentSpec) -> str:
    """Return the gateway's namespace: another than the deployment's, whose pods run as root."""
    return f"{spec.namespace}{SUFFIX}"


def part_of(limit: int, replicas: int) -> int:
    """Return a replica's part of a limit, rounded down: together the replicas never let more through."""
    return limit // replicas


def gateway_plan(spec: DeploymentSpec, gateway: Gateway, timeouts: TimeoutsPlan) -> GatewayPlan:
    """Return the gateway of a deployment."""
    name, namespace = f"{spec.name}{SUFFIX}", gateway_namespace(spec)
    selector = role_labels(spec.name, "gateway")
    per_minute = part_of(gateway.requests_per_minute, gateway.replicas)
    return GatewayPlan(
        namespace=namespace,
        name=name,
        host=f"{name}.{namespace}.svc.cluster.local",
        service_port=defaults.SERVE_PORT,
        container_port=CONTAINER_PORT,
        health_port=HEALTH_PORT,
        selector_labels=selector,
        pod_labels={**labels(spec), **selector},
        image=gateway.image,
        pull_secrets=gateway.pull_secrets,
        api_keys=gateway.api_keys_secret,
        reload_seconds=RELOAD_SECONDS,
        replicas=gateway.replicas,
        requests_per_minute=per_minute,
        concurrent_requests=part_of(gateway.concurrent_requests, gateway.replicas),
        # As long as one request takes to be forgotten, rounded up.
        retry_after_seconds=-(-_SECONDS_PER_MINUTE // per_minute),
        max_body_bytes=gateway.max_body_bytes,
        max_connections=MAX_CONNECTIONS,
        serve_host=f"{spec.name}-serve-svc.{spec.namespace}.svc.cluster.local",
        serve_port=defaults.SERVE_PORT,
        health_path=defaults.SERVE_HEALTH_PATH,
        header_seconds=HEADER_SECONDS,
        connect_seconds=CONNECT_SECONDS,
        silence_seconds=timeouts.gateway_silence_seconds,
        check_seconds=CHECK_SECONDS,
        sampled_per_million=sampled_per_million(spec),
        pre_stop_seconds=timeouts.gateway_pre_stop_seconds,
        hard_stop_seconds=timeouts.gateway_hard_stop_seconds,
        termination_grace_seconds=timeouts.gateway_grace_seconds,
        cpu_request_millicores=CPU_REQUEST_MILLICORES,
        cpu_limit_cores=CPU_LIMIT_CORES,
        memory_mib=MEMORY_MIB,
    )
