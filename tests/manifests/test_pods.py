from __future__ import annotations

from typing import Any

import pytest

from constructs_pd import DeploymentPlan
from constructs_pd.manifests.pods import head_template, worker_template
from support.specs import plan_with

P5 = {"prefill": {"instance_type": "p5.48xlarge"}, "decode": {"instance_type": "p5.48xlarge"}}


def container(template: dict[str, Any]) -> dict[str, Any]:
    (only,) = template["spec"]["containers"]
    assert isinstance(only, dict)
    return only


def templates(plan: DeploymentPlan) -> list[dict[str, Any]]:
    return [head_template(plan), *(worker_template(plan, phase) for phase in plan.phases)]


def test_the_head_declares_a_port_named_serve() -> None:
    ports = {port["name"]: port["containerPort"] for port in container(head_template(plan_with()))["ports"]}
    assert ports == {"gcs-server": 6379, "dashboard": 8265, "serve": 8000, "metrics": 8080}


def test_the_head_asks_for_no_gpu_and_tolerates_no_gpu_node() -> None:
    template = head_template(plan_with())
    assert set(container(template)["resources"]["limits"]) == {"cpu", "memory"}
    assert "tolerations" not in template["spec"]
    assert template["spec"]["nodeSelector"]["constructs-pd/role"] == "system"


@pytest.mark.parametrize(("changes", "gpus", "adapters"), [({}, "1", "1"), (P5, "8", "32")])
def test_a_worker_takes_every_gpu_and_adapter_in_limits(changes: dict[str, Any], gpus: str, adapters: str) -> None:
    plan = plan_with(changes)
    for phase in plan.phases:
        resources = container(worker_template(plan, phase))["resources"]
        assert resources["limits"]["nvidia.com/gpu"] == gpus
        assert resources["limits"]["vpc.amazonaws.com/efa"] == adapters
        assert resources["requests"] == resources["limits"]


def test_a_worker_tolerates_exactly_its_nodes_taints_and_selects_them() -> None:
    plan = plan_with()
    for phase in plan.phases:
        spec = worker_template(plan, phase)["spec"]
        assert [(t["key"], t["value"], t["effect"], t["operator"]) for t in spec["tolerations"]] == [
            (taint.key, taint.value, taint.effect, "Equal") for taint in phase.nodes.taints
        ]
        assert spec["nodeSelector"] == phase.node_selector
        assert spec["nodeSelector"]["kubernetes.io/arch"] == "amd64"


def test_no_two_workers_share_a_node() -> None:
    plan = plan_with()
    for phase in plan.phases:
        template = worker_template(plan, phase)
        (term,) = template["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        (expression,) = term["labelSelector"]["matchExpressions"]
        assert term["topologyKey"] == "kubernetes.io/hostname"
        assert expression["values"] == ["prefill", "decode"]
        labels = template["metadata"]["labels"]
        assert term["labelSelector"]["matchLabels"].items() <= labels.items()
        assert labels[expression["key"]] in expression["values"]


def test_shared_memory_is_memory_and_limited() -> None:
    for template, size in zip(templates(plan_with()), ("2Gi", "16Gi", "16Gi"), strict=True):
        volume = template["spec"]["volumes"][0]
        assert volume["emptyDir"] == {"medium": "Memory", "sizeLimit": size}
        assert {"name": volume["name"], "mountPath": "/dev/shm"} in container(template)["volumeMounts"]


def test_the_cache_is_mounted_everywhere_or_nowhere() -> None:
    for template in templates(plan_with({"model_cache.mount_path": "/mnt/weights"})):
        assert template["spec"]["volumes"][1]["persistentVolumeClaim"] == {"claimName": "model-cache"}
        assert container(template)["volumeMounts"][1]["mountPath"] == "/mnt/weights"
    for template in templates(plan_with({"model_cache": None})):
        assert len(template["spec"]["volumes"]) == len(container(template)["volumeMounts"]) == 1


def test_pods_outlive_rays_drain_and_have_no_pre_stop() -> None:
    plan = plan_with({"drain_seconds": 777})
    for template in templates(plan):
        assert template["spec"]["terminationGracePeriodSeconds"] > 777
        assert "lifecycle" not in container(template)


def test_pods_hold_no_api_token_and_use_the_deployments_account() -> None:
    for template in templates(plan_with()):
        assert template["spec"]["automountServiceAccountToken"] is False
        assert template["spec"]["serviceAccountName"] == "qwen35-9b"


@pytest.mark.parametrize(("cache", "added"), [(None, []), ({"claim_name": "models"}, ["DAC_OVERRIDE"])])
def test_only_workers_lock_memory_and_none_is_privileged(cache: dict[str, Any] | None, added: list[str]) -> None:
    head, *workers = templates(plan_with({"model_cache": cache}))
    capabilities = container(head)["securityContext"].pop("capabilities")
    assert container(head)["securityContext"] == {"allowPrivilegeEscalation": False}
    assert (capabilities.get("add", []), capabilities["drop"]) == (added, ["ALL"])
    for worker in workers:
        assert container(worker)["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"add": [*added, "IPC_LOCK"], "drop": ["ALL"]},
        }
        (check,) = worker["spec"]["initContainers"]
        assert check["securityContext"] == container(worker)["securityContext"]


def test_every_pod_is_kept_to_the_runtimes_system_calls() -> None:
    for template in templates(plan_with()):
        assert template["spec"]["securityContext"] == {"seccompProfile": {"type": "RuntimeDefault"}}


def test_one_pinned_image_everywhere_pulled_once() -> None:
    images = {(container(t)["image"], container(t)["imagePullPolicy"]) for t in templates(plan_with())}
    assert images == {("763104351884.dkr.ecr.us-west-2.amazonaws.com/ray:serve-llm-cuda-v1.0.0", "IfNotPresent")}


def test_users_labels_annotations_and_priority_reach_the_pods_they_name() -> None:
    pod = {"labels": {"tier": "gold"}, "annotations": {"example.com/a": "b"}, "priority_class": "serving"}
    head, prefill, decode = templates(plan_with({"decode.pod": pod, "labels": {"team": "search"}}))
    assert decode["metadata"]["annotations"] == {"example.com/a": "b"}
    assert decode["metadata"]["labels"].items() >= {"tier": "gold", "team": "search"}.items()
    assert decode["spec"]["priorityClassName"] == "serving"
    for other in (head, prefill):
        assert "annotations" not in other["metadata"]
        assert "tier" not in other["metadata"]["labels"]
        assert "priorityClassName" not in other["spec"]


def test_pull_secrets_reach_every_pod() -> None:
    for template in templates(plan_with({"image": {"pull_secrets": ["a", "b"]}})):
        assert template["spec"]["imagePullSecrets"] == [{"name": "a"}, {"name": "b"}]
    for template in templates(plan_with()):
        assert "imagePullSecrets" not in template["spec"]


def test_the_head_tolerates_what_its_nodes_are_tainted_with() -> None:
    taints = [{"key": "dedicated", "value": "ray"}, {"key": "other", "effect": "NoExecute"}]
    head, *workers = templates(plan_with({"head": {"tolerations": taints}}))
    assert head["spec"]["tolerations"] == [
        {"key": "dedicated", "operator": "Equal", "value": "ray", "effect": "NoSchedule"},
        {"key": "other", "operator": "Exists", "effect": "NoExecute"},
    ]
    assert {len(worker["spec"]["tolerations"]) for worker in workers} == {1}


def test_the_heads_memory_can_be_raised() -> None:
    resources = container(head_template(plan_with({"head": {"memory_gib": 32}})))["resources"]
    assert resources["requests"]["memory"] == resources["limits"]["memory"] == "32Gi"


def test_workers_are_privileged_only_on_request() -> None:
    head, *workers = templates(plan_with({"privileged_workers": True}))
    assert "privileged" not in container(head)["securityContext"]
    for worker in workers:
        assert container(worker)["securityContext"] == {
            "privileged": True,
            "capabilities": {"add": ["IPC_LOCK"]},
        }
