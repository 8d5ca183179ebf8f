"""The gateway as it is built: its names, its limits per replica and its time limits."""

from __future__ import annotations

from constructs_pd.planning.model_base import FrozenModel
from constructs_pd.planning.spec_gateway import ApiKeysSecret


class GatewayPlan(FrozenModel):
    """HAProxy in front of Ray Serve, in a namespace of its own.

    Attributes:
        namespace: Its namespace, which enforces Pod Security's `restricted`.
        name: Name of its Deployment, Service, ConfigMap, ServiceAccount and disruption budget.
        host: DNS name of its Service.
        service_port: Port of its Service: Serve's own, so that the endpoint's URL is the same with and without it.
        container_port: Port of its pods.
        health_port: Port of its pods for the kubelet's probes alone, which is open when no other connection is left.
        selector_labels: Labels by which its pods are found.
        pod_labels: All labels of its pods.
        image: HAProxy's image with its digest.
        pull_secrets: Names of image pull Secrets in its namespace.
        api_keys: Address of the Secret with names and digests of the keys.
        reload_seconds: Between two looks at the keys.
        replicas: Its pods.
        requests_per_minute: Requests that a replica accepts of one key in a minute.
        concurrent_requests: Requests of one key that a replica lets run at once.
        retry_after_seconds: What a client is told to wait for when it made too many requests.
        max_body_bytes: The largest body of a request.
        max_connections: Connections that a replica holds at once.
        serve_host: DNS name of the Service of the Serve proxies.
        serve_port: Its port.
        health_path: Path at which Serve's proxies, and the gateway itself, say without a key that they are well.
        header_seconds: How long a client may take to send the head of a request.
        connect_seconds: How long Serve may take to accept a connection.
        silence_seconds: The longest silence on a connection, and how long an idle one of a client is kept: above the
            balancer's, or the balancer reuses a connection that was just closed and the client sees a 502.
        check_seconds: Between two questions to Serve whether it is well.
        sampled_per_million: Of how many requests in a million it has a trace made, or none where there are no traces.
        pre_stop_seconds: How long a stopping pod still accepts connections, until all who send them know.
        hard_stop_seconds: How long its requests may then still take.
        termination_grace_seconds: When Kubernetes kills the pod.
        cpu_request_millicores: CPU reserved for a replica, in thousandths of a core.
        cpu_limit_cores: Most CPU that it may use, in cores; HAProxy runs as many threads.
        memory_mib: Memory reserved and allowed, in MiB.
    """

    namespace: str
    name: str
    host: str
    service_port: int
    container_port: int
    health_port: int
    selector_labels: dict[str, str]
    pod_labels: dict[str, str]
    image: str
    pull_secrets: tuple[str, ...]
    api_keys: ApiKeysSecret
    reload_seconds: int
    replicas: int
    requests_per_minute: int
    concurrent_requests: int
    retry_after_seconds: int
    max_body_bytes: int
    max_connections: int
    serve_host: str
    serve_port: int
    health_path: str
    header_seconds: int
    connect_seconds: int
    silence_seconds: int
    check_seconds: int
    sampled_per_million: int | None
    pre_stop_seconds: int
    hard_stop_seconds: int
    termination_grace_seconds: int
    cpu_request_millicores: int
    cpu_limit_cores: int
    memory_mib: int
