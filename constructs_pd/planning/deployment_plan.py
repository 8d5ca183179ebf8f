"""What is built: every number, name and label decided. Constructs render this and decide nothing."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from constructs_pd.findings import Finding
from constructs_pd.planning.balancer_plan import BalancerPlan
from constructs_pd.planning.catalog.rows import RolloutEffects
from constructs_pd.planning.cluster_plan import ChartPlan, EksClusterPlan, ModelCacheStoragePlan
from constructs_pd.planning.gateway_plan import GatewayPlan
from constructs_pd.planning.hand_over_plan import HandOverPlan
from constructs_pd.planning.model_base import FrozenModel
from constructs_pd.planning.monitoring_plan import MonitoringPlan
from constructs_pd.planning.network_policy_plan import NetworkPolicyPlan
from constructs_pd.planning.node_plan import NodeGroupPlan
from constructs_pd.planning.observability_plan import ObservabilityPlan
from constructs_pd.planning.spec import GcsFaultTolerance
from constructs_pd.planning.spec_pods import ModelCache, SecretReference, Toleration

PhaseName = Literal["prefill", "decode"]


class VersionsPlan(FrozenModel):
    """Versions that must agree with each other.

    Attributes:
        kubernetes: EKS minor version.
        kuberay: KubeRay operator.
        ray: Ray in the image; the RayService's `rayVersion`.
        vllm: vLLM in the image.
        nixl: NIXL in the image.
    """

    kubernetes: str
    kuberay: str
    ray: str
    vllm: str
    nixl: str


class ModelPlan(FrozenModel):
    """The model as both engines load it.

    Attributes:
        served_name: The `model` that clients send.
        source: Hugging Face id of the weights.
        is_hybrid: Whether some layers keep a recurrent state instead of a KV cache per token.
    """

    served_name: str
    source: str
    is_hybrid: bool


class HeadPlan(FrozenModel):
    """The Ray head's pod.

    Attributes:
        pod_labels: All labels of the pod.
        pod_annotations: Annotations of the pod.
        node_selector: Labels that its node must carry.
        tolerations: Taints of its node that it accepts.
        environment: More environment variables with literal values.
        secret_environment: More environment variables from Secrets.
        priority_class: Name of a PriorityClass, if any.
        cpu_request_cores: CPU reserved for it, in cores.
        cpu_limit_cores: Most CPU that it may use, in cores.
        memory_gib: Memory reserved and allowed, in GiB, shared memory included.
        shared_memory_gib: Size limit of `/dev/shm`, in GiB.
        object_store_gib: Ray's object store, in GiB; it lies in `/dev/shm`.
    """

    pod_labels: dict[str, str]
    pod_annotations: dict[str, str]
    node_selector: dict[str, str]
    tolerations: tuple[Toleration, ...]
    environment: dict[str, str]
    secret_environment: dict[str, SecretReference]
    priority_class: str | None
    cpu_request_cores: int
    cpu_limit_cores: int
    memory_gib: int
    shared_memory_gib: int
    object_store_gib: int


class MemoryPlan(FrozenModel):
    """Where the memory of one GPU of an engine goes, as estimated; docs/memory.md says how well.

    Attributes:
        usable_bytes: What vLLM may take.
        weight_bytes: Weights.
        activation_bytes: The peak of vLLM's profiling run.
        other_bytes: What is outside PyTorch, and what is set aside for CUDA graphs.
        kv_cache_bytes: What is left for the KV cache.
        kv_cache_tokens: Tokens that it holds, in requests of the longest context.
        request_bytes: What a request of the longest context takes of it.
        requests: How many requests of the longest context it holds.
    """

    usable_bytes: int
    weight_bytes: int
    activation_bytes: int
    other_bytes: int
    kv_cache_bytes: int
    kv_cache_tokens: int
    request_bytes: int
    requests: float


class PhasePlan(FrozenModel):
    """One phase: its nodes, its pods and its engines. A pod takes a whole node and runs one engine.

    Attributes:
        name: `prefill` or `decode`; also the name of the Ray worker group.
        replicas: Engines, pods and nodes.
        nodes: Its node group.
        gpus_per_node: GPUs of a node, all given to its pod.
        efa_per_node: EFA interfaces of a node, all given to its pod.
        accelerator_type: Ray's name of the GPU, or none where Ray has none.
        selector_labels: Labels by which the pods are found.
        pod_labels: All labels of the pods.
        pod_annotations: Annotations of the pods.
        priority_class: Name of a PriorityClass, if any.
        node_selector: Labels that a pod's node must carry.
        cpu_cores: CPU of a pod, in cores.
        memory_gib: Memory of a pod, in GiB, shared memory included.
        shared_memory_gib: Size limit of `/dev/shm`, in GiB.
        object_store_gib: Ray's object store, in GiB; it lies in `/dev/shm`.
        tensor_parallel: GPUs of one engine.
        ray_resources: Custom Ray resources that one pod offers.
        ray_bundle: Ray resources that one GPU worker of the engine asks for.
        kv_role: The engine's side of the hand-over.
        nixl_side_channel_port: First port of the NIXL handshake, one per tensor-parallel rank.
        memory: Where a GPU's memory goes, or none where a fact is missing.
        engine_arguments: vLLM engine arguments, without the KV hand-over.
        environment: Environment variables with literal values.
        secret_environment: Environment variables from Secrets.
    """

    name: PhaseName
    replicas: int
    nodes: NodeGroupPlan
    gpus_per_node: int
    efa_per_node: int
    accelerator_type: str | None
    selector_labels: dict[str, str]
    pod_labels: dict[str, str]
    pod_annotations: dict[str, str]
    priority_class: str | None
    node_selector: dict[str, str]
    cpu_cores: int
    memory_gib: int
    shared_memory_gib: int
    object_store_gib: int
    tensor_parallel: int
    ray_resources: dict[str, int]
    ray_bundle: dict[str, int]
    kv_role: Literal["kv_producer", "kv_consumer"]
    nixl_side_channel_port: int
    memory: MemoryPlan | None
    engine_arguments: dict[str, JsonValue]
    environment: dict[str, str]
    secret_environment: dict[str, SecretReference]


class ServeIngressPlan(FrozenModel):
    """Ray Serve's ingress deployment, which speaks the OpenAI API; not to be confused with a Kubernetes Ingress.

    The head offers Ray no CPU, so its actors must be given room on a worker; they run on the decode pods.

    Attributes:
        replicas: Ingress replicas.
        cpu_cores: CPU that Ray reserves for one replica, in cores.
        ray_resources: Custom Ray resources that one replica asks for; only decode pods offer them.
    """

    replicas: int
    cpu_cores: int
    ray_resources: dict[str, float]


class PortsPlan(FrozenModel):
    """TCP ports of the Ray pods.

    Attributes:
        gcs: Ray's control plane, on the head.
        dashboard: Ray's dashboard and job API, on the head; whoever reaches it can run code.
        serve: Ray Serve's HTTP proxies.
        metrics: Prometheus metrics.
        node_manager: Ray's raylet, on every pod.
        object_manager: Ray's object store, on every pod.
        runtime_env_agent: Asked by the pod itself alone.
        dashboard_agent: The dashboard's part on every pod, by HTTP; also asked whether the pod is healthy.
        dashboard_agent_grpc: The same by gRPC.
        first_worker: First port of Ray's processes, such as replicas of Serve.
        last_worker: Last port of them.
    """

    gcs: int
    dashboard: int
    serve: int
    metrics: int
    node_manager: int
    object_manager: int
    runtime_env_agent: int
    dashboard_agent: int
    dashboard_agent_grpc: int
    first_worker: int
    last_worker: int


class TimeoutsPlan(FrozenModel):
    """Time limits, all in seconds; `timeouts.chain` says which must outlast which, and why.

    Attributes:
        generation_seconds: How long an answer may take; Ray's router ends the wait for its first byte then.
        request_seconds: When Serve ends a request, streamed or not.
        idle_seconds: Longest silence that the load balancer allows on a connection.
        client_keep_alive_seconds: How long the load balancer keeps a client's connection.
        keep_alive_seconds: How long Serve keeps an idle connection; above `idle_seconds`, or the balancer reuses
            a connection that Serve has just closed and the client sees a 502.
        replica_shutdown_seconds: How long a Serve replica that Serve stops may finish its requests.
        deregistration_lag_seconds: How long a balancer may still send requests to a pod that stops.
        health_check_seconds: Between two questions of Serve to an engine whether it runs.
        node_drain_seconds: How long a Ray node goes on after SIGTERM.
        deregistration_seconds: How long the load balancer waits for the requests of a pod that it deregisters.
        termination_grace_seconds: When Kubernetes kills a pod of Ray's.
        gateway_silence_seconds: Longest silence that the gateway allows on a connection, to clients and to Serve.
        gateway_pre_stop_seconds: How long a stopping pod of the gateway still accepts connections.
        gateway_hard_stop_seconds: How long its requests may then still take.
        gateway_grace_seconds: When Kubernetes kills a pod of the gateway.
    """

    generation_seconds: int
    request_seconds: int
    idle_seconds: int
    client_keep_alive_seconds: int
    keep_alive_seconds: int
    replica_shutdown_seconds: int
    deregistration_lag_seconds: int
    health_check_seconds: int
    node_drain_seconds: int
    deregistration_seconds: int
    termination_grace_seconds: int
    gateway_silence_seconds: int
    gateway_pre_stop_seconds: int
    gateway_hard_stop_seconds: int
    gateway_grace_seconds: int


class ConformanceJobPlan(FrozenModel):
    """A run of the conformance suite in the cluster.

    Attributes:
        name_prefix: What the names of the Job and of its files begin with; a hash of their content follows. Also the
            name of its ServiceAccount.
        pod_labels: Labels of its pod.
        metrics_service_name: Headless Service of the decode pods' metrics.
        metrics_url: The metrics' address, at which every decode pod answers.
        cpu_request_millicores: CPU reserved for it, in thousandths of a core.
        cpu_limit_cores: Most CPU that it may use, in cores.
        memory_mib: Memory reserved and allowed, in MiB.
        wait_seconds: How long it waits until the endpoint is ready.
        run_seconds: How long all checks together may take.
        deadline_seconds: When Kubernetes ends it: both, and the pull of the image.
    """

    name_prefix: str
    pod_labels: dict[str, str]
    metrics_service_name: str
    metrics_url: str
    cpu_request_millicores: int
    cpu_limit_cores: int
    memory_mib: int
    wait_seconds: int
    run_seconds: int
    deadline_seconds: int


class EndpointPlan(FrozenModel):
    """What clients reach.

    Attributes:
        service_name: Stable in-cluster Service for clients.
        serve_service_name: Service that the KubeRay operator creates for the RayService's serve port.
        serve_port: Its port.
        serve_health_path: Where Serve's proxies say whether they take requests.
        namespace: Namespace of both.
        external_name: DNS name that the stable Service leads to: the gateway's, else the Serve proxies'.
        url: Base URL for OpenAI clients inside the cluster.
        balancer: The load balancer, if one is wanted.
        conformance_job: The run of the conformance suite, if one is wanted.
        gateway: HAProxy that asks for API keys, if one is wanted.
    """

    service_name: str
    serve_service_name: str
    serve_port: int
    serve_health_path: str
    namespace: str
    external_name: str
    url: str
    balancer: BalancerPlan | None
    conformance_job: ConformanceJobPlan | None
    gateway: GatewayPlan | None

    @property
    def backend_service_name(self) -> str:
        """The one Service to which a load balancer routes: the gateway's where keys are on."""
        return self.gateway.name if self.gateway else self.serve_service_name

    @property
    def backend_port(self) -> int:
        """The port of that Service."""
        return self.gateway.service_port if self.gateway else self.serve_port

    @property
    def backend_namespace(self) -> str:
        """The namespace of that Service; an Ingress stands beside its Service."""
        return self.gateway.namespace if self.gateway else self.namespace

    @property
    def backend_health_path(self) -> str:
        """Where the pods of that Service say whether they take requests."""
        return self.gateway.health_path if self.gateway else self.serve_health_path


class BudgetPlan(FrozenModel):
    """What a voluntary disruption, such as a node upgrade, must leave of a kind of pod.

    Attributes:
        name: Name of the PodDisruptionBudget.
        selector_labels: Labels of the pods.
        min_available: Pods to leave: a whole number, because a RayCluster has no scale subresource and Kubernetes
            would permit no eviction for a percentage or for maxUnavailable.
    """

    name: str
    selector_labels: dict[str, str]
    min_available: int


class RolloutPlan(FrozenModel):
    """What a kind of change to this deployment does once it is deployed and applied again.

    Attributes:
        change: What changes.
        fields: Fields of the specification that do it, each with everything below it.
        effects: What happens to each part of the manifests and of the stack that the change reaches.
        note: What follows for whoever applies it.
    """

    change: str
    fields: tuple[str, ...]
    effects: RolloutEffects
    note: str


class DeploymentPlan(FrozenModel):
    """One deployment, decided. The AWS half and the Kubernetes half share this and nothing else.

    Attributes:
        name: Name of the deployment and of its RayService.
        namespace: Kubernetes namespace.
        region: AWS region.
        availability_zone: The one zone of all GPU nodes, name or id.
        labels: Labels of every Kubernetes object of the deployment.
        tags: AWS tags of every resource of the deployment.
        vpc_cni_uses_node_role: Whether the VPC CNI gets its AWS permissions from the nodes' role.
        selector_labels: Labels by which the deployment's pods are found.
        role_label: Key of the label that tells kinds of pods and nodes apart.
        service_account_name: ServiceAccount of the Ray pods.
        service_account_annotations: Its annotations.
        image: Full image reference, the same for every pod.
        image_pull_secrets: Names of image pull Secrets.
        versions: Versions that must agree.
        model: The model.
        head: The Ray head.
        prefill: The prefill phase.
        decode: The decode phase.
        serve_ingress: Ray Serve's ingress deployment.
        endpoint: What clients reach.
        ports: Ports of the Ray pods.
        timeouts: Time limits.
        budgets: Disruption budgets.
        nixl_backend: Transport of the KV hand-over.
        hand_over: Its bytes and its time, or none where a fact is missing.
        upgrade_strategy: What KubeRay does when the cluster changes.
        rollout: What each kind of change does under that strategy.
        gcs_fault_tolerance: Redis for Ray's control plane, if any.
        network_policies: Network policies; none are there unless they are wanted.
        monitoring: Scraping, rules and alerts, if they are wanted.
        observability: Traces and logs.
        ray_authentication: Whether Ray asks for a token, which KubeRay makes.
        privileged_workers: Whether worker containers run privileged.
        initializing_timeout_seconds: When KubeRay gives a service up that has not started; none: never.
        hugging_face_token: Reference to the token, if any.
        model_cache: Shared volume for weights, if any.
        model_cache_storage: The volume behind it, where it is made for the deployment.
        eks_cluster: The EKS cluster that is made for the deployment; none: it runs in one that exists.
        charts: Helm charts that it needs in its cluster, by name.
        findings: Warnings about this plan, acknowledged ones included.
    """

    name: str
    namespace: str
    region: str
    availability_zone: str
    labels: dict[str, str]
    tags: dict[str, str]
    vpc_cni_uses_node_role: bool
    selector_labels: dict[str, str]
    role_label: str
    service_account_name: str
    service_account_annotations: dict[str, str]
    image: str
    image_pull_secrets: tuple[str, ...]
    versions: VersionsPlan
    model: ModelPlan
    head: HeadPlan
    prefill: PhasePlan
    decode: PhasePlan
    serve_ingress: ServeIngressPlan
    endpoint: EndpointPlan
    ports: PortsPlan
    timeouts: TimeoutsPlan
    budgets: tuple[BudgetPlan, ...]
    nixl_backend: Literal["LIBFABRIC"]
    hand_over: HandOverPlan | None
    upgrade_strategy: Literal["None", "NewCluster"]
    rollout: tuple[RolloutPlan, ...]
    gcs_fault_tolerance: GcsFaultTolerance | None
    network_policies: tuple[NetworkPolicyPlan, ...]
    monitoring: MonitoringPlan | None
    observability: ObservabilityPlan
    ray_authentication: Literal["none", "token"]
    privileged_workers: bool
    initializing_timeout_seconds: int | None
    hugging_face_token: SecretReference | None
    model_cache: ModelCache | None
    model_cache_storage: ModelCacheStoragePlan | None
    eks_cluster: EksClusterPlan | None
    charts: tuple[ChartPlan, ...]
    findings: tuple[Finding, ...]

    @property
    def phases(self) -> tuple[PhasePlan, PhasePlan]:
        """Both phases, prefill first."""
        return (self.prefill, self.decode)
