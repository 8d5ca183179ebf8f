"""The planner: from a specification to a plan, or to everything that is wrong with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from pydantic import JsonValue

from constructs_pd.findings import Finding, PlanError, Severity, in_order
from constructs_pd.planning import defaults
from constructs_pd.planning.catalog.loader import Catalog, load_catalog
from constructs_pd.planning.catalog.rows import ImageRow, ModelRow
from constructs_pd.planning.deployment_plan import (
    DeploymentPlan,
    EndpointPlan,
    HeadPlan,
    ModelPlan,
    PhaseName,
    PhasePlan,
    PortsPlan,
    RolloutPlan,
    ServeIngressPlan,
    Taint,
    TimeoutsPlan,
    VersionsPlan,
)
from constructs_pd.planning.facts import Facts, PhaseFacts, gather
from constructs_pd.planning.network import network_interfaces
from constructs_pd.planning.rules import RULES
from constructs_pd.planning.sizes import pod_cpu_cores, pod_memory_gib
from constructs_pd.planning.spec import DeploymentSpec, Pod
from constructs_pd.planning.zones import is_zone_id

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
        labels=_labels(spec),
        service_account_name=spec.name,
        service_account_annotations=spec.service_account_annotations,
        image=_image(facts, image),
        image_pull_secrets=spec.image.pull_secrets,
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
        upgrade_strategy="NewCluster" if spec.upgrade.strategy == "new_cluster" else "None",
        rollout=_rollout(facts),
        gcs_fault_tolerance=spec.gcs_fault_tolerance,
        privileged_workers=spec.privileged_workers,
        initializing_timeout_seconds=spec.initializing_timeout_seconds,
        hugging_face_token=spec.hugging_face_token,
        model_cache=spec.model_cache,
        findings=findings,
    )


def _labels(spec: DeploymentSpec) -> dict[str, str]:
    return {**spec.labels, defaults.DEPLOYMENT_LABEL: spec.name}


def _role_labels(name: str, role: str) -> dict[str, str]:
    return {defaults.DEPLOYMENT_LABEL: name, defaults.ROLE_LABEL: role}


def _pod_labels(spec: DeploymentSpec, role: str, pod: Pod) -> dict[str, str]:
    return {**spec.labels, **pod.labels, **_role_labels(spec.name, role)}


def _min_available(spec: DeploymentSpec, replicas: int) -> int | None:
    """All pods but one may be kept; a single pod is either kept or has no budget, as the user says."""
    if replicas > 1:
        return replicas - 1
    return 1 if spec.single_pod_budget == "block" else None


def _image(facts: Facts, image: ImageRow) -> str:
    stated, registry = facts.spec.image, facts.registry
    repository = image.repository
    if stated.registry == "private" and image.mirrored_as is not None:
        assert registry is not None  # PD211 refuses what is not known
        repository = f"{registry.account}.dkr.ecr.{registry.region}.{registry.dns_suffix}/{image.mirrored_as}"
    digest = f"@{stated.digest}" if stated.digest else ""
    return f"{repository}:{image.tag}{digest}"


def _rollout(facts: Facts) -> tuple[RolloutPlan, ...]:
    strategy: Literal["none", "new_cluster"] = facts.spec.upgrade.strategy
    return tuple(
        RolloutPlan(change=row.change, effect=getattr(row, strategy), note=row.note)
        for row in facts.catalog.rollout.values()
    )


def _head(spec: DeploymentSpec) -> HeadPlan:
    return HeadPlan(
        selector_labels=_role_labels(spec.name, "head"),
        pod_labels=_pod_labels(spec, "head", spec.head.pod),
        pod_annotations=spec.head.pod.annotations,
        node_selector={**dict([defaults.ARCHITECTURE_LABEL]), **spec.head.node_selector},
        tolerations=spec.head.tolerations,
        environment=spec.head.pod.environment,
        secret_environment=spec.head.pod.secret_environment,
        priority_class=spec.head.pod.priority_class,
        cpu_request_cores=defaults.HEAD_CPU_REQUEST_CORES,
        cpu_limit_cores=defaults.HEAD_CPU_LIMIT_CORES,
        memory_gib=spec.head.memory_gib,
        shared_memory_gib=defaults.HEAD_SHARED_MEMORY_GIB,
        object_store_gib=defaults.HEAD_OBJECT_STORE_GIB,
        min_available=_min_available(spec, 1),
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
        max_nodes=phase.spec.max_nodes or phase.spec.replicas,
        instance_type=instance.instance_type,
        gpus_per_node=instance.gpu.count,
        efa_per_node=instance.efa.interfaces,
        network_interfaces=network_interfaces(instance.efa),
        accelerator_type=instance.gpu.ray_accelerator_type,
        node_labels=node_labels,
        node_taints=(Taint(key=defaults.GPU_TAINT_KEY, value="true", effect="NoSchedule"),),
        selector_labels=_role_labels(spec.name, phase.name),
        pod_labels=_pod_labels(spec, phase.name, phase.spec.pod),
        pod_annotations=phase.spec.pod.annotations,
        priority_class=phase.spec.pod.priority_class,
        node_selector={
            **dict([defaults.ARCHITECTURE_LABEL]),
            **_role_labels(spec.name, phase.name),
            _zone_label(spec.availability_zone): spec.availability_zone,
        },
        cpu_cores=pod_cpu_cores(instance),
        memory_gib=pod_memory_gib(instance),
        shared_memory_gib=defaults.WORKER_SHARED_MEMORY_GIB,
        object_store_gib=defaults.WORKER_OBJECT_STORE_GIB,
        tensor_parallel=tensor_parallel,
        ray_resources=_ray_resources(phase.name, tensor_parallel),
        ray_bundle={"GPU": 1, _ray_resource(phase.name): 1},
        kv_role="kv_producer" if phase.name == "prefill" else "kv_consumer",
        nixl_side_channel_port=(defaults.NIXL_PORT_PREFILL if phase.name == "prefill" else defaults.NIXL_PORT_DECODE),
        engine_arguments=_engine_arguments(phase, spec, model, tensor_parallel),
        environment={**phase.spec.pod.environment, **_environment(model)},
        secret_environment=phase.spec.pod.secret_environment,
        min_available=_min_available(spec, phase.spec.replicas),
    )


def _zone_label(zone: str) -> str:
    return "topology.k8s.aws/zone-id" if is_zone_id(zone) else "topology.kubernetes.io/zone"


def _ray_resource(phase: PhaseName) -> str:
    return f"pd-{phase}"


def _ray_resources(phase: PhaseName, tensor_parallel: int) -> dict[str, int]:
    """One unit per GPU of the engine: a pod has room for exactly one engine of its own phase."""
    offered = {_ray_resource(phase): tensor_parallel}
    return {**offered, INGRESS_RAY_RESOURCE: 1} if phase == "decode" else offered


def _engine_arguments(
    phase: PhaseFacts, spec: DeploymentSpec, model: ModelRow, tensor_parallel: int
) -> dict[str, JsonValue]:
    wanted: dict[str, JsonValue] = {
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
    return {**phase.spec.engine_args, **{name: value for name, value in wanted.items() if value is not None}}


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
