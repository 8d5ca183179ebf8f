"""What is decided for one phase: its nodes, its pods and its engines."""

from __future__ import annotations

from pydantic import JsonValue

from constructs_pd.planning import defaults
from constructs_pd.planning.catalog.rows import InstanceRow, ModelRow
from constructs_pd.planning.deployment_plan import MemoryPlan, PhaseName, PhasePlan
from constructs_pd.planning.facts import Facts, PhaseFacts
from constructs_pd.planning.fit import Fit, chosen_arguments, context_tokens, settled
from constructs_pd.planning.labels import pod_labels, role_labels, zone_label
from constructs_pd.planning.node_group import node_group_plan
from constructs_pd.planning.observability import engine_arguments, observability_environment
from constructs_pd.planning.scraping import pod_annotations
from constructs_pd.planning.sizes import pod_cpu_cores, pod_memory_gib


def phase_plan(phase: PhaseFacts, facts: Facts) -> PhasePlan:
    """Decide everything about one phase, whose instance type must be known."""
    spec, model = facts.spec, facts.model
    assert model is not None  # PD205 refuses what is not known
    instance, tensor_parallel = phase.instance, phase.tensor_parallel
    assert instance is not None
    assert tensor_parallel is not None  # PD201 refuses what is not known
    return PhasePlan(
        name=phase.name,
        replicas=phase.spec.replicas,
        nodes=node_group_plan(phase, spec),
        gpus_per_node=instance.gpu.count,
        efa_per_node=instance.efa.interfaces,
        accelerator_type=instance.gpu.ray_accelerator_type,
        selector_labels=role_labels(spec.name, phase.name),
        pod_labels=pod_labels(spec, phase.name, phase.spec.pod),
        pod_annotations=pod_annotations(spec, phase.spec.pod),
        priority_class=phase.spec.pod.priority_class,
        node_selector={
            **dict([defaults.ARCHITECTURE_LABEL]),
            **role_labels(spec.name, phase.name),
            zone_label(spec.availability_zone): spec.availability_zone,
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
        memory=_memory(settled(facts, phase)),
        engine_arguments=_engine_arguments(phase, facts, model, tensor_parallel),
        environment={
            **phase.spec.pod.environment,
            **_environment(instance, model),
            **observability_environment(spec, phase.name),
        },
        secret_environment=phase.spec.pod.secret_environment,
    )


def _ray_resource(phase: PhaseName) -> str:
    return f"pd-{phase}"


def _ray_resources(phase: PhaseName, tensor_parallel: int) -> dict[str, int]:
    """One unit per GPU of the engine: a pod has room for exactly one engine of its own phase."""
    offered = {_ray_resource(phase): tensor_parallel}
    return {**offered, defaults.INGRESS_RAY_RESOURCE: 1} if phase == "decode" else offered


def _memory(found: Fit | None) -> MemoryPlan | None:
    if found is None:
        return None
    budget = found.budget
    return MemoryPlan(
        usable_bytes=budget.usable,
        weight_bytes=budget.weights,
        activation_bytes=budget.activations,
        other_bytes=budget.outside_pytorch + budget.graphs,
        kv_cache_bytes=budget.kv_cache,
        kv_cache_tokens=found.tokens,
        request_bytes=found.layout.bytes_per_request(found.context_tokens),
        requests=round(found.requests, 2),
    )


def _engine_arguments(phase: PhaseFacts, facts: Facts, model: ModelRow, tensor_parallel: int) -> dict[str, JsonValue]:
    spec, chosen = facts.spec, chosen_arguments(facts, phase)
    wanted: dict[str, JsonValue] = {
        "dtype": spec.model.dtype,
        "kv_cache_dtype": spec.model.kv_cache_dtype,
        "max_model_len": context_tokens(facts),
        "tensor_parallel_size": tensor_parallel,
        "max_num_batched_tokens": phase.spec.max_num_batched_tokens,
        **chosen,
        "enforce_eager": phase.spec.enforce_eager,
        # Stated on hybrid models, so that vLLM refuses a setting that would turn it off instead of obeying.
        "disable_hybrid_kv_cache_manager": False if model.attention == "hybrid" else None,
        **engine_arguments(spec),
    }
    return {**phase.spec.engine_args, **{name: value for name, value in wanted.items() if value is not None}}


def _environment(instance: InstanceRow, model: ModelRow) -> dict[str, str]:
    hand_over = {
        # EFA through libfabric; the image sets FI_PROVIDER too, but says so only in its Dockerfile.
        "FI_PROVIDER": "efa",
        "FI_EFA_FORK_SAFE": "1",
    }
    if instance.efa.rdma_read:  # elsewhere libfabric aborts when it is asked to (ofiwg/libfabric#8661)
        hand_over["FI_EFA_USE_DEVICE_RDMA"] = "1"
    # NIXL moves recurrent state only in this layout (vLLM 0.26.0 nixl/base_worker.py asserts it).
    return {**hand_over, "VLLM_SSM_CONV_STATE_LAYOUT": "DS"} if model.attention == "hybrid" else hand_over
