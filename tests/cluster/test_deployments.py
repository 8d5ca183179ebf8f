"""Deployments as users make them: every pod finds its node, and nothing else does."""

from __future__ import annotations

import json
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from cluster.conftest import Make
from cluster.control_plane import ControlPlane
from cluster.deployment import Deployment, is_bound
from cluster.kubectl import Object, RefusedError, wait_for
from cluster.nodes import gpu_nodes, system_nodes
from cluster.problems import problems
from constructs_pd import DeploymentPlan, PlanError, plan_file
from readers import helm
from support.new_cluster import STACKS, Stacks, zone_of_gpu_nodes
from support.processes import python
from support.rendered import only
from support.specs import REFERENCE_FILE, VARIANTS, plan_with


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make synth` writes of the reference deployment."""
    output = tmp_path_factory.mktemp("reference")
    done = python("tools/synth.py", str(REFERENCE_FILE), "--output", str(output))
    assert done.returncode == 0, done.stderr
    return output


def written_stacks(assembly: Path, plan: DeploymentPlan) -> Stacks:
    """Return the templates of the stacks, by the part of their names after the deployment's."""
    return {
        name: json.loads((assembly / f"{plan.name}-{name}.template.json").read_text(encoding="utf-8"))
        for name in STACKS
    }


def test_the_reference_deployment_as_it_is_written(live: ControlPlane, make: Make, written: Path) -> None:
    deployment = make(planned=plan_file(REFERENCE_FILE))
    stacks = written_stacks(written / "cdk.out", deployment.plan)
    deployment.template = stacks["gpu-nodes"]
    zone = zone_of_gpu_nodes(stacks)
    assert zone == deployment.plan.availability_zone
    deployment.nodes = [*system_nodes(stacks), *gpu_nodes(deployment.template, zone)]
    deployment.register_nodes(tempting=True)
    deployment.apply(manifests=[])  # what the README asks for beside the manifests
    live.kubectl.apply_file(written / "dist")
    deployment.wait_for_pods()
    assert problems(deployment) == []
    (cluster,) = deployment.clusters()
    assert cluster["spec"]["rayVersion"] == deployment.plan.versions.ray


@pytest.mark.parametrize("plugin", ["nvidia-device-plugin", "aws-efa-k8s-device-plugin"])
@pytest.mark.skipif(not helm.RUNS_HERE, reason="the CDK brings Helm for Linux on x86_64 only")
def test_a_device_plugin_runs_on_every_gpu_node_and_nowhere_else(live: ControlPlane, make: Make, plugin: str) -> None:
    deployment = make({"decode.replicas": 2})
    deployment.register_nodes()
    (chart,) = [chart for chart in deployment.plan.charts if chart.name == plugin]
    # The deployment's namespace goes with the test, the chart's own would stay.
    chart = chart.model_copy(update={"namespace": deployment.namespace})
    live.kubectl.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": chart.namespace}}])
    objects = helm.rendered(chart, helm.values_of(chart))
    for each in objects:
        each["metadata"]["namespace"] = chart.namespace
    live.kubectl.apply(each for each in objects if each["kind"] in ("DaemonSet", "ServiceAccount"))
    planned = {node["metadata"]["name"] for node in gpu_nodes(deployment.template, deployment.plan.availability_zone)}
    assert len(planned) == 3

    def where() -> set[str] | None:
        pods = live.kubectl.list("pods", chart.namespace)
        found = {pod["spec"]["nodeName"] for pod in pods if is_bound(pod) and pod["status"]["phase"] == "Running"}
        return found if len(found) >= len(planned) else None

    assert wait_for("running plugins", where) == planned


@pytest.mark.parametrize("variant", ["many-nodes-eight-gpus", "plain-attention-unequal-tensor-parallel"])
def test_several_nodes_and_different_types(make: Make, variant: str) -> None:
    deployment = make(VARIANTS[variant])
    deployment.register_nodes()
    deployment.apply()
    deployment.wait_for_pods()
    assert problems(deployment) == []


def test_two_deployments_keep_to_their_own_nodes(make: Make) -> None:
    first, second = make(), make({"decode.replicas": 2})
    for each in (first, second):
        each.register_nodes()
    for each in (second, first):
        each.apply()
    for each in (first, second):
        each.wait_for_pods()
        assert problems(each) == []


def test_a_budget_permits_what_the_plan_says(live: ControlPlane, make: Make) -> None:
    deployment = make({"decode.replicas": 2})
    deployment.register_nodes()
    deployment.apply()
    deployment.wait_for_pods()

    def evict(phase: str) -> str:
        pod = next(pod for pod in deployment.pods() if pod["metadata"]["labels"]["constructs-pd/role"] == phase)
        name = pod["metadata"]["name"]
        wanted = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
        path = f"/api/v1/namespaces/{deployment.namespace}/pods/{name}/eviction"
        return live.kubectl.run("create", "--raw", path, "-f", "-", given=json.dumps(wanted))

    with pytest.raises(RefusedError, match="violate the pod's disruption budget"):
        evict("prefill")  # of one
    assert "Success" in evict("decode")  # of two


def test_the_conformance_job_runs_on_a_cpu_node_and_may_read_only_its_deployment(
    live: ControlPlane, make: Make
) -> None:
    deployment = make({"endpoint.conformance_job": True})
    deployment.register_nodes()
    deployment.apply()
    deployment.wait_for_pods()

    def jobs() -> list[Object]:
        return live.kubectl.list("jobs", deployment.namespace)

    def pods() -> list[Object]:
        found = live.kubectl.list("pods", deployment.namespace, f"batch.kubernetes.io/job-name={job_name}")
        return [pod for pod in found if is_bound(pod)]

    (job,) = jobs()
    job_name = job["metadata"]["name"]
    (pod,) = wait_for("bound pod of the Job", pods)
    assert pod["spec"]["nodeName"] == f"{deployment.plan.name}-system"

    def may(verb: str, what: str) -> bool:
        account = f"system:serviceaccount:{deployment.namespace}:{pod['spec']['serviceAccountName']}"
        try:
            asked = live.kubectl.run("auth", "can-i", verb, what, "--as", account, "-n", deployment.namespace)
        except RefusedError:
            return False
        return asked.strip() == "yes"

    assert may("get", f"rayservices.ray.io/{deployment.plan.name}")
    assert may("get", f"rayclusters.ray.io/{deployment.clusters()[0]['metadata']['name']}")
    others = [("get", "rayservices.ray.io/another"), ("list", "rayservices.ray.io"), ("patch", "rayclusters.ray.io")]
    others += [("get", "secrets"), ("create", "pods"), ("list", "pods")]
    assert [each for each in others if may(*each)] == []
    deployment.apply()
    assert [each["metadata"]["uid"] for each in jobs()] == [job["metadata"]["uid"]]


def test_nothing_else_fits_a_gpu_node(live: ControlPlane, make: Make) -> None:
    deployment = make()
    deployment.register_nodes()
    deployment.apply()
    deployment.wait_for_pods()
    node = {"kubernetes.io/hostname": f"{deployment.plan.name}-decode-0"}
    tolerations = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
    reasons = {
        "plain": scheduler_says(live, deployment.namespace, _pod("plain", node, [], {})),
        "gpu": scheduler_says(live, deployment.namespace, _pod("gpu", node, tolerations, {"nvidia.com/gpu": "1"})),
        "cpu": scheduler_says(live, deployment.namespace, _pod("cpu", node, tolerations, {"cpu": "4"})),
    }
    assert "untolerated taint" in reasons["plain"]
    assert "Insufficient nvidia.com/gpu" in reasons["gpu"]
    assert "Insufficient cpu" in reasons["cpu"]


def _pod(name: str, node: dict[str, str], tolerations: list[Object], resources: dict[str, str]) -> Object:
    container = {"name": "c", "image": "i", "resources": {"limits": resources}}
    spec = {"nodeSelector": node, "tolerations": tolerations, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def scheduler_says(live: ControlPlane, namespace: str, pod: Object) -> str:
    """Return why a pod gets no node."""
    wait_for("service account", lambda: live.kubectl.list("serviceaccounts", namespace))
    pod["metadata"]["namespace"] = namespace
    live.kubectl.apply([pod])

    def reason() -> str | None:
        found = live.kubectl.get("pod", pod["metadata"]["name"], namespace)
        assert not is_bound(found)
        return next((each.get("message") for each in found["status"].get("conditions", [])), None)

    said: str = wait_for("word of the scheduler", reason)
    live.kubectl.run("delete", "pod", pod["metadata"]["name"], "-n", namespace, "--force", "--grace-period=0")
    return said


def test_a_node_short_leaves_one_pod_pending_as_the_plan_predicts(make: Make) -> None:
    replicas = {"decode.replicas": 3}
    deployment = make(replicas)
    deployment.nodes = deployment.planned_nodes()[:-1]
    deployment.register_nodes()
    deployment.apply()
    deployment.wait_for_pods(bound=deployment.expected_pods() - 1)
    time.sleep(2)
    ((name, reason),) = deployment.pending_reasons().items()
    assert "decode" in name
    assert "didn't match" in reason or "Insufficient" in reason
    # The same numbers are refused before anything is written.
    with pytest.raises(PlanError, match=r"PD113 error decode\.max_nodes: 2 nodes at most, 3 replicas need 3"):
        plan_with({**replicas, "decode.max_nodes": 2})


# What is planted in one half after both were written, and what is then seen in the control plane.
def _untolerated(deployment: Deployment) -> None:
    for node in deployment.nodes:
        if node["spec"]["taints"]:
            node["spec"]["taints"].append({"key": "dedicated", "value": "x", "effect": "NoSchedule"})


def _swapped(deployment: Deployment) -> None:
    for group in _groups(deployment):
        selector = group["template"]["spec"]["nodeSelector"]
        selector["constructs-pd/role"] = {"prefill": "decode", "decode": "prefill"}[selector["constructs-pd/role"]]


def _one_gpu_more(deployment: Deployment) -> None:
    for group in _groups(deployment):
        for amounts in group["template"]["spec"]["containers"][0]["resources"].values():
            amounts["nvidia.com/gpu"] = str(int(amounts["nvidia.com/gpu"]) + 1)


def _no_zone(deployment: Deployment) -> None:
    for group in _groups(deployment):
        del group["template"]["spec"]["nodeSelector"]["topology.kubernetes.io/zone"]


def _no_deployment(deployment: Deployment) -> None:
    for group in _groups(deployment):
        del group["template"]["spec"]["nodeSelector"]["constructs-pd/deployment"]


def _head_anywhere(deployment: Deployment) -> None:
    service = only(deployment.manifests, "RayService")
    head = service["spec"]["rayClusterConfig"]["headGroupSpec"]["template"]["spec"]
    del head["nodeSelector"]["constructs-pd/role"]


def _service_of_nobody(deployment: Deployment) -> None:
    only(deployment.manifests, "Service")["spec"] = {"selector": {"typo": "x"}, "ports": [{"port": 8000}]}


def _groups(deployment: Deployment) -> list[Object]:
    groups: list[Object] = only(deployment.manifests, "RayService")["spec"]["rayClusterConfig"]["workerGroupSpecs"]
    return groups


PLANTED: dict[str, tuple[Any, str]] = {
    "a taint without its toleration": (_untolerated, "untolerated taint"),
    "swapped phase labels": (_swapped, "a prefill pod on a decode node"),
    "a GPU too many": (_one_gpu_more, "Insufficient nvidia.com/gpu"),
    "workers of any zone": (_no_zone, "on a node of another zone"),
    "workers of any deployment": (_no_deployment, "-other"),
    "a head on any CPU node": (_head_anywhere, "a head pod on a other node"),
    "a service that selects nobody": (_service_of_nobody, "selects [] by {'typo': 'x'}"),
}
NEVER_BOUND = ("a taint without its toleration", "a GPU too many")


@pytest.mark.parametrize("mistake", PLANTED)
def test_a_planted_mistake_is_seen(make: Make, mistake: str) -> None:
    plant, seen = PLANTED[mistake]
    deployment = make()
    deployment.nodes = deployment.planned_nodes()
    plant(deployment)
    deployment.register_nodes(tempting=True)
    deployment.apply()
    with pytest.raises(TimeoutError) if mistake in NEVER_BOUND else nullcontext():
        deployment.wait_for_pods(seconds=12 if mistake in NEVER_BOUND else 60)
    text = f"{problems(deployment)} {deployment.pending_reasons()}"
    assert seen in text


def test_the_operator_refuses_a_name_of_48_characters(live: ControlPlane, make: Make) -> None:
    deployment = make()
    only(deployment.manifests, "RayService")["metadata"]["name"] = "q" * 48
    deployment.apply()
    try:
        wait_for("warning", lambda: [text for text in deployment.warnings() if "47 characters" in text])
        assert any("InvalidRayServiceMetadata" in text for text in problems(deployment))
        assert deployment.pods() == []
    finally:
        live.kubectl.run("delete", "rayservice", "q" * 48, "--namespace", deployment.namespace)


def test_the_api_server_refuses_an_unknown_field(make: Make) -> None:
    deployment = make()
    only(deployment.manifests, "RayService")["spec"]["rayClusterConfig"]["headGroupSpecs"] = {}
    with pytest.raises(RefusedError, match='unknown field "headGroupSpecs"'):
        deployment.apply()
