"""The roll-out rows, compared with what a change of each field renders.

What CloudFormation replaces is read from the registry's own schemas, as cfn-lint carries them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from types import UnionType
from typing import Any, get_args

import pytest
import yaml
from aws_cdk import App
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER
from pydantic import BaseModel

from constructs_pd import (
    DeploymentPlan,
    DeploymentSpec,
    EksAddOns,
    EksCluster,
    EksGpuNodeGroups,
    EksNetwork,
    ExistingSubnet,
    plan,
)
from constructs_pd.manifests.serve_config import serve_config
from constructs_pd.planning.catalog.rows import RolloutEffect, RolloutPart
from readers.ray_session import ray_session
from support.changes import CATALOG, CHANGES, COMPANIONS, CONTEXTS, NEW_CLUSTER, ROWS, Changes, rows_of
from support.rendered import monitoring_of, whole_deployment
from support.specs import plan_with, spec_with
from support.template import CLUSTER, SUBNET_ID, stack, template_of

# Subnets of other zones than the first.
SUBNETS = {"us-west-2b": "subnet-0123456789abcdef1"}


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


def parts(changes: Changes) -> dict[RolloutPart, object]:
    """Render a deployment and divide it into the parts of which the rows speak."""
    return rendered(json.dumps(changes))


@cache
def rendered(changes: str) -> dict[RolloutPart, object]:
    planned = plan(spec_with(json.loads(changes)), CATALOG)
    manifests = [*whole_deployment(planned), *monitoring_of(planned)]
    (service,) = [deepcopy(manifest) for manifest in manifests if manifest["kind"] == "RayService"]
    serve = yaml.safe_load(service["spec"].pop("serveConfigV2"))
    cluster = service["spec"].pop("rayClusterConfig")
    return {
        "identity": [service["metadata"].pop(name) for name in ("name", "namespace")],
        "application": [serve.pop("applications"), serve.pop("logging_config", None)],
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
        "cluster": made_cluster(planned),
    }


def gpu_nodes(planned: DeploymentPlan) -> dict[str, Any]:
    """Return the stack of the GPU nodes: what tells it from other stacks, and its resources."""
    subnet = SUBNETS.get(planned.availability_zone, SUBNET_ID)
    scope = stack(planned)
    where = ExistingSubnet(subnet_id=subnet, availability_zone=planned.availability_zone)
    EksGpuNodeGroups(scope, "gpu", plan=planned, cluster=CLUSTER, subnet=where, service_cidr="10.100.0.0/16")
    return {"stack": (scope.stack_name, scope.region), "resources": template_of(scope)["Resources"]}


def made_cluster(planned: DeploymentPlan) -> dict[str, Any] | None:
    """Return the resources of the cluster that a plan makes: network, cluster and add-ons."""
    if planned.eks_cluster is None:
        return None
    # Without the CDK's own code, which is large and always the same.
    scope = stack(planned, App(context={"aws:cdk:disable-asset-staging": True}))
    network = EksNetwork(scope, "network", plan=planned)
    cluster = EksCluster(scope, "cluster", plan=planned, network=network)
    EksAddOns(scope, "add-ons", plan=planned, cluster=cluster)
    resources: dict[str, Any] = template_of(scope)["Resources"]
    return resources


def changed_parts(context: Changes, changes: Changes) -> dict[RolloutPart, RolloutEffect | None]:
    """Return the parts that a change reaches; with what becomes of those that do not depend on KubeRay."""
    before, after = parts(context), parts({**context, **changes})
    unequal: dict[RolloutPart, RolloutEffect | None] = {part: None for part in before if before[part] != after[part]}
    if "nodes" in unequal:
        unequal["nodes"] = effect_on_nodes(before["nodes"], after["nodes"])
    if "cluster" in unequal:
        unequal["cluster"] = effect_on_cluster(before["cluster"], after["cluster"])
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


def effect_on_cluster(before: Any, after: Any) -> RolloutEffect:
    """Return whether CloudFormation makes a resource anew, or deletes one, or only changes what is there."""
    return "remade" if any(is_remade(resource, after.get(name)) for name, resource in before.items()) else "in_place"


def is_remade(before: Any, after: Any) -> bool:
    if after is None:
        return True
    old, new = before.get("Properties", {}), after.get("Properties", {})
    return any(old.get(key) != new.get(key) for key in create_only(before["Type"]))


def template_changes(before: Any, after: Any, group: Any) -> bool:
    """Return whether a node group's launch template changes, or the placement group that it names."""
    names = [group["LaunchTemplate"]["Id"]["Ref"]]
    names += [name for name, found in before["resources"].items() if found["Type"] == "AWS::EC2::PlacementGroup"]
    return any(before["resources"][name] != after["resources"].get(name) for name in names)


@cache
def create_only(kind: str) -> frozenset[str]:
    """Return the properties that CloudFormation changes by making the resource anew."""
    schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-west-2", kind).schema
    return frozenset(path.removeprefix("/properties/") for path in schema.get("createOnlyProperties", ()))


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


def test_what_is_no_longer_stated_of_a_cluster_is_deleted() -> None:
    per_zone = {**NEW_CLUSTER, "eks_cluster.nat_gateways": "per_zone"}
    assert changed_parts(per_zone, {"eks_cluster.nat_gateways": "one"}) == {"cluster": "remade"}


def test_between_instance_types_with_the_same_gpus_only_the_pods_change() -> None:
    assert changed_parts({}, {"prefill.instance_type": "g6.16xlarge"}).keys() == {"pods", "nodes"}


def test_between_models_of_a_kind_only_the_application_changes() -> None:
    assert changed_parts({"model.source": "Qwen/Qwen3-8B"}, {"model.source": "Qwen/Qwen3-0.6B"}).keys() == {
        "application"
    }


LONGEST = "endpoint.longest_generation_seconds"


@pytest.mark.parametrize("field", ["model.max_model_len", "prefill.max_num_seqs", "decode.replicas", LONGEST])
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
