from __future__ import annotations

from typing import Any

from constructs_pd.manifests.gateway import (
    FILES_HASH,
    gateway_budget_spec,
    gateway_data,
    gateway_deployment_spec,
    gateway_service_spec,
)
from constructs_pd.planning.deployment_plan import DeploymentPlan
from support.gateway import GATEWAY, IMAGE
from support.specs import plan_with


def planned(**changes: Any) -> DeploymentPlan:
    return plan_with({"endpoint.gateway": {**GATEWAY, **changes}})


def deployment(plan: DeploymentPlan) -> dict[str, Any]:
    assert plan.endpoint.gateway is not None
    return gateway_deployment_spec(plan, plan.endpoint.gateway)


def pod(plan: DeploymentPlan) -> dict[str, Any]:
    spec: dict[str, Any] = deployment(plan)["template"]["spec"]
    return spec


def container(plan: DeploymentPlan) -> dict[str, Any]:
    (only,) = pod(plan)["containers"]
    found: dict[str, Any] = only
    return found


def test_it_has_no_more_rights_than_a_restricted_namespace_allows() -> None:
    """Kubernetes documentation, Pod Security Standards, Restricted."""
    spec, security = pod(planned()), container(planned())["securityContext"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] > 0
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert security == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
    assert {kind for volume in spec["volumes"] for kind in volume} == {"name", "configMap", "secret"}
    assert container(planned())["ports"][0]["containerPort"] > 1024
    assert spec["automountServiceAccountToken"] is False


def test_it_runs_where_the_head_runs() -> None:
    plan = plan_with(
        {
            "endpoint.gateway": GATEWAY,
            "head.node_selector": {"pool": "cpu"},
            "head.tolerations": [{"key": "dedicated", "value": "ray"}],
        }
    )
    assert pod(plan)["nodeSelector"] == {"pool": "cpu", "kubernetes.io/arch": "amd64"}
    assert pod(plan)["tolerations"] == [
        {"key": "dedicated", "operator": "Equal", "value": "ray", "effect": "NoSchedule"}
    ]
    assert "tolerations" not in pod(planned())


def test_its_pods_are_spread_over_nodes() -> None:
    spread = pod(planned())["topologySpreadConstraints"]
    assert [(each["topologyKey"], each["whenUnsatisfiable"], each["maxSkew"]) for each in spread] == [
        ("kubernetes.io/hostname", "DoNotSchedule", 1),
        ("topology.kubernetes.io/zone", "ScheduleAnyway", 1),
    ]
    labels = deployment(planned())["template"]["metadata"]["labels"]
    for each in spread:
        assert each["labelSelector"]["matchLabels"].items() <= labels.items()


def test_no_pod_is_added_during_an_update_and_one_at_a_time_is_taken() -> None:
    plan = planned(replicas=3)
    assert plan.endpoint.gateway is not None
    assert deployment(plan)["replicas"] == 3
    assert deployment(plan)["strategy"]["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}
    assert gateway_budget_spec(plan.endpoint.gateway)["maxUnavailable"] == 1


def test_the_secret_is_mounted_whole_so_that_the_kubelet_renews_it() -> None:
    plan = planned(api_keys_secret={"secret_name": "clients", "key": "list.txt"})
    (volume,) = [volume for volume in pod(plan)["volumes"] if "secret" in volume]
    assert volume["secret"]["secretName"] == "clients"
    assert volume["secret"]["items"] == [{"key": "list.txt", "path": "list.txt"}]
    (mount,) = [mount for mount in container(plan)["volumeMounts"] if mount["name"] == volume["name"]]
    assert mount == {"name": volume["name"], "mountPath": "/etc/gateway-keys", "readOnly": True}
    assert plan.endpoint.gateway is not None
    assert f"{mount['mountPath']}/list.txt" in gateway_data(plan.endpoint.gateway)["haproxy.cfg"]
    assert "env" not in container(plan)


def test_other_files_are_other_pods() -> None:
    hashes = {
        deployment(plan)["template"]["metadata"]["annotations"][FILES_HASH]
        for plan in (planned(), planned(max_body_bytes=2048), planned())
    }
    assert len(hashes) == 2


def test_a_pod_stops_accepting_before_it_stops_and_lets_streams_end() -> None:
    command = container(planned())["lifecycle"]["preStop"]["exec"]["command"]
    assert command[-1].startswith("sleep 30; kill -USR1 1; while kill -0 1;")
    assert pod(planned())["terminationGracePeriodSeconds"] == 30 + planned().timeouts.termination_grace_seconds


def test_service_and_probes_reach_the_port_that_it_listens_on() -> None:
    plan = planned()
    gateway = plan.endpoint.gateway
    assert gateway is not None
    port, health = container(plan)["ports"]
    (served,) = gateway_service_spec(gateway)["ports"]
    assert (served["port"], served["targetPort"]) == (8000, port["name"])
    assert gateway_service_spec(gateway)["selector"].items() <= gateway.pod_labels.items()
    assert f"bind *:{port['containerPort']}\n" in gateway_data(gateway)["haproxy.cfg"]
    for probe in ("readinessProbe", "livenessProbe"):
        assert container(plan)[probe]["httpGet"] == {"path": "/-/healthz", "port": health["name"]}
    assert f"bind *:{health['containerPort']}\n" in gateway_data(gateway)["haproxy.cfg"]
    assert gateway_data(gateway)["haproxy.cfg"].count("monitor-uri /-/healthz\n") == 2


def test_image_and_pull_secrets() -> None:
    assert container(planned())["image"] == IMAGE
    assert "imagePullSecrets" not in pod(planned())
    assert pod(planned(pull_secrets=["registry"]))["imagePullSecrets"] == [{"name": "registry"}]
