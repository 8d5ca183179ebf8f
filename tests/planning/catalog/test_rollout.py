"""The roll-out rows, compared with what a change of each field renders.

What CloudFormation replaces is read from the registry's own schemas, as cfn-lint carries them.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from functools import cache
from types import UnionType
from typing import Any, get_args

import pytest
import yaml
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER
from pydantic import BaseModel

from constructs_pd import DeploymentPlan, DeploymentSpec, EksGpuNodeGroups, ExistingSubnet, plan
from constructs_pd.manifests.serve_config import serve_config
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.catalog.rows import RolloutEffect, RolloutPart, RolloutRow
from readers.ray_session import ray_session
from support.rendered import whole_deployment
from support.specs import FOUR_GPU_ROW, IMAGE_ROW, MODEL_ROW, changed, plan_with, spec_with
from support.template import CLUSTER, SUBNET_ID, stack, template_of

# With a second release of KubeRay, so that there is another value for kuberay_version too.
BUILT_IN = load_catalog()
KUBERAY = BUILT_IN.kuberay["1.7.0"]
CATALOG = replace(BUILT_IN, kuberay={"1.7.0": KUBERAY, "1.7.1": KUBERAY.model_copy(update={"version": "1.7.1"})})
ROWS = tuple(CATALOG.rollout.values())
Changes = dict[str, Any]

# Rows that take the place of the catalogue's.
OTHER_GPU_ROW = changed(
    FOUR_GPU_ROW,
    {"instance_type": "g6.8xlarge", "gpu.name": "L40S", "gpu.count": 1, "gpu.ray_accelerator_type": "L40S"},
)
PLAIN_ROW = {**MODEL_ROW, "model": "Qwen/Qwen3.5-9B"}
OTHER_IMAGE_ROW = {**IMAGE_ROW, "tag": "serve-llm-cuda-v1.0.0"}
REFERENCE = {"secret_name": "other", "key": "other"}
REDIS = {"gcs_fault_tolerance.redis_address": "redis.cache:6379"}
USERNAME = {**REDIS, "gcs_fault_tolerance.redis_username": {"secret_name": "redis", "key": "user"}}
PASSWORD = {**REDIS, "gcs_fault_tolerance.redis_password": {"secret_name": "redis", "key": "password"}}
# Four GPUs in each phase, and a model whose phases may differ in tensor parallelism.
FOUR_GPUS = {
    "model.source": "Qwen/Qwen3-8B",
    "prefill.instance_type": "g6.12xlarge",
    "decode.instance_type": "g6.12xlarge",
}

P5 = {"prefill.instance_type": "p5.48xlarge", "decode.instance_type": "p5.48xlarge"}
RESERVATION = {
    "id": "cr-0123456789abcdef0",
    "availability_zone": "us-west-2a",
    "instance_count": 4,
    "placement_group": "first",
}
PHASES = ("prefill", "decode")

# What must stand in the specification before and after a field is changed.
CONTEXTS: dict[str, Changes] = {
    "prefill.tensor_parallel": FOUR_GPUS,
    "decode.tensor_parallel": {**FOUR_GPUS, "prefill.tensor_parallel": 2},
    "gcs_fault_tolerance.redis_address": REDIS,
    "gcs_fault_tolerance.storage_namespace": REDIS,
    "gcs_fault_tolerance.redis_username.secret_name": USERNAME,
    "gcs_fault_tolerance.redis_username.key": USERNAME,
    "gcs_fault_tolerance.redis_password.secret_name": PASSWORD,
    "gcs_fault_tolerance.redis_password.key": PASSWORD,
    "upgrade.strategy": {"prefill.max_nodes": 2, "decode.max_nodes": 2},
    **{f"{phase}.capacity": P5 for phase in PHASES},
    **{
        f"{phase}.reservation.{field}": {f"{phase}.capacity": "reservation", f"{phase}.reservation": RESERVATION}
        for phase in PHASES
        for field in RESERVATION
    },
    "region": {"availability_zone": "us-west-2a"},
}
PHASE: Changes = {
    "instance_type": "g6e.8xlarge",
    "replicas": 3,
    "tensor_parallel": 2,
    "max_num_seqs": 7,
    "max_num_batched_tokens": 8192,
    "gpu_memory_utilization": 0.5,
    "enforce_eager": False,
    "engine_args": {"seed": 7},
    "min_nodes": 0,
    "max_nodes": 5,
    "capacity": "capacity_block",
    "reservation.id": "cr-0123456789abcdef1",
    "reservation.availability_zone": "us-west-2b",
    "reservation.instance_count": 8,
    "reservation.placement_group": "other",
    "root_volume_gib": 300,
    "ami_id": "ami-0123456789abcdef0",
    "single_pod_budget": "none",
}
POD: Changes = {
    "environment": {"VLLM_LOGGING_LEVEL": "DEBUG"},
    "secret_environment": {"WANDB_API_KEY": REFERENCE},
    "labels": {"team": "search"},
    "annotations": {"example.com/owner": "search"},
    "priority_class": "serving",
}
# Another value for every field.
CHANGES: Changes = {
    "name": "other",
    "namespace": "other",
    "region": "us-east-1",
    "availability_zone": "us-west-2b",
    "model.source": "Qwen/Qwen3-8B",
    "model.served_name": "other",
    "model.max_model_len": 512,
    "model.dtype": "bfloat16",
    "model.kv_cache_dtype": "fp8",
    **{f"{phase}.{field}": value for phase in PHASES for field, value in PHASE.items()},
    **{f"{pods}.pod.{field}": value for pods in ("prefill", "decode", "head") for field, value in POD.items()},
    "head.node_selector": {"pool": "cpu"},
    "head.tolerations": [{"key": "dedicated", "value": "ray"}],
    "head.memory_gib": 16,
    "head.single_pod_budget": "none",
    "nodes.placement_group": "none",
    "nodes.ami_release_version": "1.35.2-20261101",
    "nodes.vpc_cni_role": "own",
    "nodes.tags": {"cost-center": "7"},
    "endpoint.exposure": "cluster",
    "endpoint.subnet_ids": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
    "endpoint.idle_timeout_seconds": 900,
    "image.registry": "public",
    "image.tag": "own-1.0.0",
    "image.digest": "sha256:" + "0" * 64,
    "image.pull_secrets": ["regcred"],
    "kubernetes_version": "1.36",
    "kuberay_version": "1.7.1",
    "hugging_face_token.secret_name": "other",
    "hugging_face_token.key": "other",
    "model_cache.claim_name": "other",
    "model_cache.mount_path": "/other",
    "gcs_fault_tolerance.redis_address": "other.cache:6379",
    "gcs_fault_tolerance.redis_username.secret_name": "other",
    "gcs_fault_tolerance.redis_username.key": "other",
    "gcs_fault_tolerance.redis_password.secret_name": "other",
    "gcs_fault_tolerance.redis_password.key": "other",
    "gcs_fault_tolerance.storage_namespace": "other",
    "upgrade.strategy": "new_cluster",
    "single_pod_budget": "none",
    "privileged_workers": True,
    "initializing_timeout_seconds": 7200,
    "labels": {"cost-center": "7"},
    "service_account_annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/reader"},
    "drain_seconds": 300,
    "acknowledge": [{"code": "PD206", "reason": "another"}],
    "custom_instances": [OTHER_GPU_ROW],
    "custom_models": [PLAIN_ROW],
    "custom_images": [OTHER_IMAGE_ROW],
}
# Subnets of other zones than the first.
SUBNETS = {"us-west-2b": "subnet-0123456789abcdef1"}
# What must change together with a field.
COMPANIONS: dict[str, Changes] = {
    "region": {"availability_zone": "us-east-1a"},
    "image.tag": {"custom_images": [IMAGE_ROW]},
    **{f"{phase}.capacity": {f"{phase}.reservation": RESERVATION} for phase in PHASES},
    **{f"{phase}.reservation.availability_zone": {"availability_zone": "us-west-2b"} for phase in PHASES},
}


def leaves(model: type[BaseModel] = DeploymentSpec, prefix: str = "") -> Iterator[str]:
    """Yield the paths of all fields that hold no fields themselves; lists and mappings are one field."""
    for name, field in model.model_fields.items():
        inner = inner_model(field.annotation)
        if inner is None:
            yield f"{prefix}{name}"
        else:
            yield from leaves(inner, f"{prefix}{name}.")


def inner_model(annotation: object) -> type[BaseModel] | None:
    """Return the model of a field, also of one that may be left out."""
    choices = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    models = [choice for choice in choices if isinstance(choice, type) and issubclass(choice, BaseModel)]
    return models[0] if models else None


def rows_of(field: str) -> list[RolloutRow]:
    return [row for row in ROWS if any(f"{field}.".startswith(f"{named}.") for named in row.fields)]


def parts(changes: Changes) -> dict[RolloutPart, object]:
    """Render a deployment and divide its manifests into the parts of which the rows speak."""
    planned = plan(spec_with(changes), CATALOG)
    manifests = whole_deployment(planned)
    (service,) = [deepcopy(manifest) for manifest in manifests if manifest["kind"] == "RayService"]
    serve = yaml.safe_load(service["spec"].pop("serveConfigV2"))
    cluster = service["spec"].pop("rayClusterConfig")
    return {
        "identity": [service["metadata"].pop(name) for name in ("name", "namespace")],
        "application": serve.pop("applications"),
        "proxies": serve,
        "group_sizes": [
            group.pop(name)
            for group in cluster["workerGroupSpecs"]
            for name in ("replicas", "minReplicas", "maxReplicas")
        ],
        "tolerations": [
            group["template"]["spec"].pop("tolerations", None)
            for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"])
        ],
        "pods": cluster,
        "service": service,
        "objects": [manifest for manifest in manifests if manifest["kind"] != "RayService"],
        "nodes": gpu_nodes(planned),
    }


def gpu_nodes(planned: DeploymentPlan) -> dict[str, Any]:
    """Return the stack of the GPU nodes: what tells it from other stacks, and its resources."""
    subnet = SUBNETS.get(planned.availability_zone, SUBNET_ID)
    scope = stack(planned)
    where = ExistingSubnet(subnet_id=subnet, availability_zone=planned.availability_zone)
    EksGpuNodeGroups(scope, "gpu", plan=planned, cluster=CLUSTER, subnet=where, service_cidr="10.100.0.0/16")
    return {"stack": (scope.stack_name, scope.region), "resources": template_of(scope)["Resources"]}


def changed_parts(context: Changes, changes: Changes) -> dict[RolloutPart, RolloutEffect | None]:
    """Return the parts that a change reaches; with what becomes of the nodes, which does not depend on KubeRay."""
    before, after = parts(context), parts({**context, **changes})
    unequal: dict[RolloutPart, RolloutEffect | None] = {part: None for part in before if before[part] != after[part]}
    if "nodes" in unequal:
        unequal["nodes"] = effect_on_nodes(before["nodes"], after["nodes"])
    return {part: unequal[part] for part in unequal if part in ("identity", "nodes") or "identity" not in unequal}


def effect_on_nodes(before: Any, after: Any) -> RolloutEffect:
    """Return what CloudFormation and EKS do with the node groups."""
    if before["stack"] != after["stack"]:
        return "new_stack"
    effects: set[RolloutEffect] = set()
    for name, resource in before["resources"].items():
        if resource["Type"] == "AWS::EKS::Nodegroup":
            old, new = resource["Properties"], after["resources"][name]["Properties"]
            unequal = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
            replaced = unequal & create_only(resource["Type"])
            rolled = unequal & {"Version", "ReleaseVersion"} or template_changes(before, after, old)
            effects.add("second_node_group" if replaced else "nodes_replaced" if rolled else "in_place")
    strongest: tuple[RolloutEffect, ...] = ("second_node_group", "nodes_replaced", "in_place")
    return next(effect for effect in strongest if effect in effects)


def template_changes(before: Any, after: Any, group: Any) -> bool:
    """Return whether a node group's launch template changes, or the placement group that it names."""
    names = [group["LaunchTemplate"]["Id"]["Ref"]]
    names += [name for name, found in before["resources"].items() if found["Type"] == "AWS::EC2::PlacementGroup"]
    return any(before["resources"][name] != after["resources"].get(name) for name in names)


@cache
def create_only(kind: str) -> frozenset[str]:
    """Return the properties that CloudFormation changes by making the resource anew."""
    schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-west-2", kind).schema
    return frozenset(path.removeprefix("/properties/") for path in schema["createOnlyProperties"])


def effect(part: RolloutPart, together: dict[RolloutPart, RolloutEffect | None], strategy: str) -> RolloutEffect:
    """Return what KubeRay 1.7.0 does with a changed part, beside the other parts that changed."""
    known = together[part]
    if known is not None:
        return known
    if part == "identity":
        return "new_service"
    if part in ("service", "objects"):
        return "in_place"
    if strategy == "new_cluster" and "pods" in together:
        return "second_cluster"
    return "in_place" if part == "application" else "ignored"


FIELDS = tuple(leaves())


def test_there_is_a_change_for_every_field() -> None:
    assert sorted(CHANGES) == sorted(FIELDS)


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_stands_in_one_row(field: str) -> None:
    assert len(rows_of(field)) == 1


def test_every_field_that_a_row_names_exists() -> None:
    for row in ROWS:
        for named in row.fields:
            assert any(f"{field}.".startswith(f"{named}.") for field in FIELDS), f"{row.change}: {named}"


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_changes_the_parts_that_its_row_says_as_it_says(field: str) -> None:
    (row,) = rows_of(field)
    reached = changed_parts(CONTEXTS.get(field, {}), {**COMPANIONS.get(field, {}), field: CHANGES[field]})
    assert row.none == {part: effect(part, reached, "none") for part in reached}
    assert row.new_cluster == {part: effect(part, reached, "new_cluster") for part in reached}


def test_between_instance_types_with_the_same_gpus_only_the_pods_change() -> None:
    assert changed_parts({}, {"prefill.instance_type": "g6.16xlarge"}).keys() == {"pods", "nodes"}


def test_between_models_of_a_kind_only_the_application_changes() -> None:
    assert changed_parts({"model.source": "Qwen/Qwen3-8B"}, {"model.source": "Qwen/Qwen3-32B"}).keys() == {
        "application"
    }


@pytest.mark.parametrize("field", ["model.max_model_len", "prefill.max_num_seqs", "decode.replicas", "drain_seconds"])
def test_ray_replaces_every_replica_when_any_argument_changes(field: str) -> None:
    assert code_version({}) != code_version({field: CHANGES[field]})


def test_ray_replaces_no_replica_when_only_the_proxies_change() -> None:
    assert code_version({}) == code_version({"endpoint.idle_timeout_seconds": 900})


def code_version(changes: Changes) -> str:
    """Return what all replicas of the application have in common; where it changes, Ray replaces them."""
    (application,) = serve_config(plan_with(changes))["applications"]
    with ray_session():
        from ray.serve._private.deploy_utils import get_app_code_version
        from ray.serve.schema import ServeApplicationSchema

        return str(get_app_code_version(ServeApplicationSchema.model_validate(application)))
