"""The planner: from a specification to a plan, or to everything that is wrong with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from constructs_pd.findings import Finding, PlanError, Severity, in_order
from constructs_pd.planning import defaults
from constructs_pd.planning.catalog.loader import Catalog, load_catalog
from constructs_pd.planning.catalog.rows import ImageRow, InstanceRow, ModelRow
from constructs_pd.planning.deployment_plan import (
    DeploymentPlan,
    EndpointPlan,
    EngineValue,
    HeadPlan,
    ModelPlan,
    PhaseName,
    PhasePlan,
    PortsPlan,
    ServeIngressPlan,
    Taint,
    TimeoutsPlan,
    VersionsPlan,
)
from constructs_pd.planning.facts import Facts, PhaseFacts, gather
from constructs_pd.planning.rules import RULES
from constructs_pd.planning.spec import DeploymentSpec
from constructs_pd.planning.zones import is_zone_id

MIB_PER_GIB: Final = 1024
MILLICORES_PER_CORE: Final = 1000
INGRESS_RAY_RESOURCE: Final = "pd-ingress"


def plan(spec: DeploymentSpec, catalog: Catalog | None = None) -> DeploymentPlan:
    """Decide everything about a deployment.

    Args:
        spec: What the user wants.
        catalog: Facts to plan with. Default: the built-in catalogue.

    Returns:
        The plan, with its warnings in `findings`.

    Raises:
        PlanError: The deployment cannot work; carries every finding.
    """
    facts = gather(spec, catalog if catalog is not None else load_catalog())
    findings = examine(facts)
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise PlanError(findings)
    return _decide(facts, findings)


def examine(facts: Facts) -> tuple[Finding, ...]:
    """Run every rule and return what they find, in order, with the acknowledged warnings marked."""
    reasons = {acknowledge.code: acknowledge.reason for acknowledge in facts.spec.acknowledge}
    return in_order(
        replace(finding, acknowledged=reasons[finding.code])
        if finding.severity is Severity.WARNING and finding.code in reasons
        else finding
        for rule in RULES
        for finding in rule.findings(facts)
    )


def _decide(facts: Facts, findings: tuple[Finding, ...]) -> DeploymentPlan:
    spec, image, model = facts.spec, facts.image, facts.model
    assert image is not None
    assert model is not None  # PD401 and PD205 refuse what is not known
    decode = _phase(facts.decode, spec, model)
    return DeploymentPlan(
        name=spec.name,
        namespace=spec.namespace,
        region=spec.region,
        availability_zone=spec.availability_zone,
        labels=_labels(spec.name),
        service_account_name=spec.name,
        image=_image(spec, image),
        versions=VersionsPlan(
            kubernetes=spec.kubernetes_version,
            kuberay=spec.kuberay_version,
            ray=image.ray_version,
            vllm=image.vllm_version,
            nixl=image.nixl_version,
        ),
        model=ModelPlan(
            served_name=spec.model.served_name or spec.model.source.rpartition("/")[2].lower(),
            source=spec.model.source,
            is_hybrid=model.attention == "hybrid",
        ),
        head=_head(spec),
        prefill=_phase(facts.prefill, spec, model),
        decode=decode,
        serve_ingress=_serve_ingress(decode.replicas),
        endpoint=_endpoint(spec),
        ports=PortsPlan(
            gcs=defaults.GCS_PORT,
            dashboard=defaults.DASHBOARD_PORT,
            serve=defaults.SERVE_PORT,
            metrics=defaults.METRICS_PORT,
        ),
        timeouts=_timeouts(spec),
        nixl_backend="LIBFABRIC",
        hugging_face_token=spec.hugging_face_token,
        model_cache=spec.model_cache,
        findings=findings,
    )


def _labels(name: str) -> dict[str, str]:
    return {defaults.DEPLOYMENT_LABEL: name}


def _role_labels(name: str, role: str) -> dict[str, str]:
    return {**_labels(name), defaults.ROLE_LABEL: role}


def _image(spec: DeploymentSpec, image: ImageRow) -> str:
    digest = f"@{spec.image.digest}" if spec.image.digest else ""
    return f"{image.repository}:{image.tag}{digest}"


def _head(spec: DeploymentSpec) -> HeadPlan:
    return HeadPlan(
        pod_labels=_role_labels(spec.name, "head"),
        node_selector={**dict([defaults.ARCHITECTURE_LABEL]), **spec.head.node_selector},
        cpu_request_cores=defaults.HEAD_CPU_REQUEST_CORES,
        cpu_limit_cores=defaults.HEAD_CPU_LIMIT_CORES,
        memory_gib=defaults.HEAD_MEMORY_GIB,
        shared_memory_gib=defaults.HEAD_SHARED_MEMORY_GIB,
        object_store_gib=defaults.HEAD_OBJECT_STORE_GIB,
        min_available=1,
    )


def _phase(phase: PhaseFacts, spec: DeploymentSpec, model: ModelRow) -> PhasePlan:
    instance, tensor_parallel = phase.instance, phase.tensor_parallel
    assert instance is not None
    assert tensor_parallel is not None  # PD201 refuses what is not known
    node_labels = {
        **_role_labels(spec.name, phase.name),
        **dict([defaults.GPU_PRESENT_LABEL]),
    }
    return PhasePlan(
        name=phase.name,
        replicas=phase.spec.replicas,
        instance_type=instance.instance_type,
        gpus_per_node=instance.gpu.count,
        efa_per_node=instance.efa.interfaces,
        accelerator_type=instance.gpu.ray_accelerator_type,
        node_labels=node_labels,
        node_taints=(Taint(key=defaults.GPU_TAINT_KEY, value="true", effect="NoSchedule"),),
        pod_labels=_role_labels(spec.name, phase.name),
        node_selector={
            **dict([defaults.ARCHITECTURE_LABEL]),
            **_role_labels(spec.name, phase.name),
            _zone_label(spec.availability_zone): spec.availability_zone,
        },
        cpu_cores=_pod_cpu_cores(instance),
        memory_gib=_pod_memory_gib(instance),
        shared_memory_gib=defaults.WORKER_SHARED_MEMORY_GIB,
        object_store_gib=defaults.WORKER_OBJECT_STORE_GIB,
        tensor_parallel=tensor_parallel,
        ray_resources=_ray_resources(phase.name, tensor_parallel),
        ray_bundle={"GPU": 1, _ray_resource(phase.name): 1},
        kv_role="kv_producer" if phase.name == "prefill" else "kv_consumer",
        nixl_side_channel_port=(defaults.NIXL_PORT_PREFILL if phase.name == "prefill" else defaults.NIXL_PORT_DECODE),
        engine_arguments=_engine_arguments(phase, spec, model, tensor_parallel),
        environment=_environment(model),
        min_available=max(1, phase.spec.replicas - 1),
    )


def _zone_label(zone: str) -> str:
    return "topology.k8s.aws/zone-id" if is_zone_id(zone) else "topology.kubernetes.io/zone"


def _pod_cpu_cores(instance: InstanceRow) -> int:
    return instance.allocatable_cpu_millicores // MILLICORES_PER_CORE - defaults.NODE_RESERVE_CPU_CORES


def _pod_memory_gib(instance: InstanceRow) -> int:
    return instance.allocatable_memory_mib // MIB_PER_GIB - defaults.NODE_RESERVE_MEMORY_GIB


def _ray_resource(phase: PhaseName) -> str:
    return f"pd-{phase}"


def _ray_resources(phase: PhaseName, tensor_parallel: int) -> dict[str, int]:
    """One unit per GPU of the engine: a pod has room for exactly one engine of its own phase."""
    offered = {_ray_resource(phase): tensor_parallel}
    return {**offered, INGRESS_RAY_RESOURCE: 1} if phase == "decode" else offered


def _engine_arguments(
    phase: PhaseFacts, spec: DeploymentSpec, model: ModelRow, tensor_parallel: int
) -> dict[str, EngineValue]:
    wanted: dict[str, EngineValue | None] = {
        "dtype": spec.model.dtype,
        "kv_cache_dtype": spec.model.kv_cache_dtype,
        "max_model_len": spec.model.max_model_len or model.max_position_embeddings,
        "tensor_parallel_size": tensor_parallel,
        "max_num_seqs": phase.spec.max_num_seqs,
        "max_num_batched_tokens": phase.spec.max_num_batched_tokens,
        "gpu_memory_utilization": phase.spec.gpu_memory_utilization,
        "enforce_eager": phase.spec.enforce_eager,
        # Stated on hybrid models, so that vLLM refuses a setting that would turn it off instead of obeying.
        "disable_hybrid_kv_cache_manager": False if model.attention == "hybrid" else None,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def _environment(model: ModelRow) -> dict[str, str]:
    hand_over = {
        # EFA through libfabric; the image sets FI_PROVIDER too, but says so only in its Dockerfile.
        "FI_PROVIDER": "efa",
        "FI_EFA_USE_DEVICE_RDMA": "1",
        "FI_EFA_FORK_SAFE": "1",
        # Ray Serve LLM logs every prompt by default.
        "RAYLLM_ENABLE_REQUEST_PROMPT_LOGS": "0",
    }
    # NIXL moves recurrent state only in this layout (vLLM 0.26.0 nixl/base_worker.py asserts it).
    return {**hand_over, "VLLM_SSM_CONV_STATE_LAYOUT": "DS"} if model.attention == "hybrid" else hand_over


def _serve_ingress(decode_replicas: int) -> ServeIngressPlan:
    return ServeIngressPlan(
        replicas=decode_replicas * defaults.INGRESSES_PER_DECODE_REPLICA,
        cpu_cores=defaults.INGRESS_CPU_CORES,
        ray_resources={INGRESS_RAY_RESOURCE: defaults.INGRESS_RESOURCE_SHARE},
    )


def _endpoint(spec: DeploymentSpec) -> EndpointPlan:
    return EndpointPlan(
        service_name=spec.name,
        serve_service_name=f"{spec.name}-serve-svc",
        url=f"http://{spec.name}.{spec.namespace}.svc.cluster.local:{defaults.SERVE_PORT}/v1",
        internal_alb=spec.endpoint.exposure == "internal_alb",
        subnet_ids=spec.endpoint.subnet_ids,
    )


def _timeouts(spec: DeploymentSpec) -> TimeoutsPlan:
    return TimeoutsPlan(
        idle_seconds=spec.endpoint.idle_timeout_seconds,
        keep_alive_seconds=spec.endpoint.idle_timeout_seconds + defaults.KEEP_ALIVE_MARGIN_SECONDS,
        replica_shutdown_seconds=spec.drain_seconds - defaults.REPLICA_SHUTDOWN_MARGIN_SECONDS,
        node_drain_seconds=spec.drain_seconds,
        termination_grace_seconds=spec.drain_seconds + defaults.TERMINATION_MARGIN_SECONDS,
    )
