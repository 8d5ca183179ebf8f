from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest
from cdk8s import ApiObject, App, Chart, JsonPatch
from syrupy.assertion import SnapshotAssertion

from constructs_pd import DeploymentPlan, OpenAIEndpoint, PlanError, PrefillDecodeService, RayLlmCluster
from constructs_pd.manifests.conformance_job import suite_data
from support.gateway import GATEWAY
from support.rendered import chart, kinds, only, synthesized
from support.specs import CERTIFICATE, COGNITO, INTERNET, JWT, OIDC, VARIANTS, plan_with


def endpoint(scope: Chart, plan: DeploymentPlan, id: str = "endpoint") -> OpenAIEndpoint:
    cluster = RayLlmCluster(scope, f"{id}-cluster", plan=plan)
    service = PrefillDecodeService(scope, f"{id}-service", plan=plan, cluster=cluster)
    return OpenAIEndpoint(scope, id, plan=plan, service=service)


def own(scope: Chart) -> list[dict[str, Any]]:
    return [m for m in synthesized(scope) if m["kind"] in ("Service", "Ingress")]


def test_internal_balancer(yaml_file: SnapshotAssertion) -> None:
    scope = chart()
    endpoint(scope, plan_with())
    assert [manifest["kind"] for manifest in own(scope)] == ["Service", "Ingress"]
    assert own(scope) == yaml_file


def test_inside_the_cluster_only() -> None:
    scope = chart()
    endpoint(scope, plan_with({"endpoint": None}))
    assert [manifest["kind"] for manifest in own(scope)] == ["Service"]


def test_the_stable_name_leads_to_the_operators_service() -> None:
    scope = chart()
    reached = endpoint(scope, plan_with())
    service = only(synthesized(scope), "Service")
    assert service["spec"] == {
        "type": "ExternalName",
        "externalName": "qwen35-9b-serve-svc.inference.svc.cluster.local",
    }
    assert reached.url == "http://qwen35-9b.inference.svc.cluster.local:8000/v1"
    assert reached.url.startswith(f"http://{service['metadata']['name']}.{service['metadata']['namespace']}.svc")


def test_the_balancer_routes_to_the_serve_port_and_nowhere_else() -> None:
    scope = chart()
    endpoint(scope, plan_with())
    spec = only(synthesized(scope), "Ingress")["spec"]
    assert spec == {
        "ingressClassName": "alb",
        "rules": [
            {
                "http": {
                    "paths": [
                        {
                            "path": "/",
                            "pathType": "Prefix",
                            "backend": {"service": {"name": "qwen35-9b-serve-svc", "port": {"number": 8000}}},
                        }
                    ]
                }
            }
        ],
    }


def test_on_the_internet(yaml_file: SnapshotAssertion) -> None:
    scope = chart()
    reached = endpoint(scope, plan_with({"endpoint": INTERNET}))
    assert reached.balancer_url == "https://llm.example.com/v1"
    (ingress,) = [manifest for manifest in own(scope) if manifest["kind"] == "Ingress"]
    (rule,) = ingress["spec"]["rules"]
    assert rule["host"] == "llm.example.com"
    assert [path["backend"]["service"]["name"] for path in rule["http"]["paths"]] == ["qwen35-9b-serve-svc"]
    assert ingress == yaml_file


@pytest.mark.parametrize("login", ["oidc", "cognito", "jwt"])
def test_each_way_of_authentication_at_the_balancer(login: str, yaml_file: SnapshotAssertion) -> None:
    scope = chart()
    stated = {"certificate_arn": CERTIFICATE, login: {"oidc": OIDC, "cognito": COGNITO, "jwt": JWT}[login]}
    endpoint(scope, plan_with({"endpoint": {"exposure": "internet_alb", "balancer": stated}}))
    manifests = synthesized(scope)
    found = [m for m in manifests if m["kind"] in ("Role", "RoleBinding", "Ingress")]
    assert [m["kind"] for m in found] == (["Role", "RoleBinding", "Ingress"] if login == "oidc" else ["Ingress"])
    assert found == yaml_file


def test_the_controller_reads_no_other_secret_than_that_of_the_login() -> None:
    scope = chart()
    endpoint(scope, plan_with({"endpoint.balancer": {"certificate_arn": CERTIFICATE, "oidc": OIDC}}))
    assert only(synthesized(scope), "Role")["rules"] == [
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["login"], "verbs": ["get", "list", "watch"]}
    ]
    assert only(synthesized(scope), "RoleBinding")["subjects"] == [
        {"kind": "ServiceAccount", "name": "aws-load-balancer-controller", "namespace": "kube-system"}
    ]


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_a_balancer_leads_to_the_one_backend_and_nothing_else_is_routed(changes: dict[str, Any]) -> None:
    scope, plan = chart(), plan_with(changes)
    endpoint(scope, plan)
    for manifest in synthesized(scope):
        if manifest["kind"] == "Ingress":
            assert "defaultBackend" not in manifest["spec"]
            paths = [path for rule in manifest["spec"]["rules"] for path in rule["http"]["paths"]]
            assert [path["backend"]["service"] for path in paths] == [
                {"name": plan.endpoint.backend_service_name, "port": {"number": plan.endpoint.backend_port}}
            ]
        if manifest["kind"] == "Service":
            assert manifest["spec"].get("type") not in ("LoadBalancer", "NodePort")


def test_two_services_on_one_host_and_path_are_refused() -> None:
    scope = chart()
    first, second = (plan_with({"name": name, "endpoint": INTERNET}) for name in ("one", "two"))
    endpoint(scope, first, "first")
    with pytest.raises(PlanError, match="PD521 error test/second") as caught:
        endpoint(scope, second, "second")
    (finding,) = caught.value.findings
    assert finding.message == (
        "test/first (of 'one') serves llm.example.com/ already, this one is of 'two': 2 services for 1 host and path"
    )
    assert finding.remedy == "give each endpoint.balancer.host a name of its own"


def test_two_services_on_hosts_of_their_own_fit_into_one_app() -> None:
    scope = chart()
    for name in ("one", "two"):
        host = {"endpoint": INTERNET, "endpoint.balancer.host": f"{name}.example.com"}
        endpoint(scope, plan_with({"name": name, **host}), name)
    ingresses = [m for m in own(scope) if m["kind"] == "Ingress"]
    assert [m["spec"]["rules"][0]["host"] for m in ingresses] == ["one.example.com", "two.example.com"]


def test_service_and_endpoint_come_from_one_plan() -> None:
    scope, plan = chart(), plan_with({"name": "one"})
    service = PrefillDecodeService(scope, "service", plan=plan, cluster=RayLlmCluster(scope, "cluster", plan=plan))
    with pytest.raises(PlanError, match=r"PD501 error test/endpoint: .* \(of 'one'\) than this one \(of 'two'\)"):
        OpenAIEndpoint(scope, "endpoint", plan=plan_with({"name": "two"}), service=service)


def test_arguments_of_another_kind_are_refused() -> None:
    scope, plan = chart(), plan_with()
    cluster = RayLlmCluster(scope, "cluster", plan=plan)
    not_a_service: Any = cluster
    with pytest.raises(PlanError, match="PD520 error test/endpoint: service is a RayLlmCluster"):
        OpenAIEndpoint(scope, "endpoint", plan=plan, service=not_a_service)
    service, no_plan = PrefillDecodeService(scope, "service", plan=plan, cluster=cluster), cast(Any, None)
    with pytest.raises(PlanError, match="PD520 error test/other: plan is a NoneType"):
        OpenAIEndpoint(scope, "other", plan=no_plan, service=service)


def test_several_in_one_chart() -> None:
    scope = chart()
    for name in ("one", "two"):
        endpoint(scope, plan_with({"name": name}), name)
    assert [(m["kind"], m["metadata"]["name"]) for m in own(scope)] == [
        ("Service", "one"),
        ("Ingress", "one"),
        ("Service", "two"),
        ("Ingress", "two"),
    ]


WITH_JOB = {"endpoint.conformance_job": True}


def test_a_job_that_checks_it(yaml_file: SnapshotAssertion) -> None:
    scope = chart()
    endpoint(scope, plan_with({"endpoint": {"conformance_job": True}}))
    manifests = synthesized(scope)
    assert Counter(kinds(manifests)) == {
        "ServiceAccount": 2,
        "PodDisruptionBudget": 3,
        "RayService": 1,
        "Service": 2,
        "ConfigMap": 1,
        "Role": 1,
        "RoleBinding": 1,
        "Job": 1,
    }
    suite, job = only(manifests, "ConfigMap"), only(manifests, "Job")
    assert suite["immutable"] is True
    assert suite["binaryData"] == suite_data()
    (volume,) = job["spec"]["template"]["spec"]["volumes"]
    assert volume["configMap"]["name"] == suite["metadata"]["name"]
    (metrics,) = [m for m in manifests if m["kind"] == "Service" and m["spec"].get("clusterIP") == "None"]
    # Their names change with every file of the suite.
    volume["configMap"]["name"] = job["metadata"]["name"] = "hashed"
    account = [m for m in manifests if m["metadata"]["name"] == "qwen35-9b-check"]
    assert [metrics, *account, job] == yaml_file


def test_the_metrics_are_those_of_decode() -> None:
    scope, plan = chart(), plan_with(WITH_JOB)
    endpoint(scope, plan)
    (metrics,) = [m for m in synthesized(scope) if m["kind"] == "Service" and m["spec"].get("clusterIP") == "None"]
    assert metrics["spec"]["selector"].items() <= plan.decode.pod_labels.items()
    assert not metrics["spec"]["selector"].items() <= plan.prefill.pod_labels.items()


def test_the_jobs_account_may_read_its_own_deployment_and_nothing_else() -> None:
    scope = chart()
    endpoint(scope, plan_with(WITH_JOB))
    manifests = synthesized(scope)
    role, binding, job = (only(manifests, kind) for kind in ("Role", "RoleBinding", "Job"))
    assert role["rules"] == [
        {"apiGroups": ["ray.io"], "resources": ["rayservices"], "resourceNames": ["qwen35-9b"], "verbs": ["get"]},
        {"apiGroups": ["ray.io"], "resources": ["rayclusters"], "verbs": ["get"]},
    ]
    (subject,) = binding["subjects"]
    assert subject["name"] == job["spec"]["template"]["spec"]["serviceAccountName"]
    assert (binding["roleRef"]["kind"], binding["roleRef"]["name"]) == ("Role", role["metadata"]["name"])
    assert len({m["metadata"]["namespace"] for m in (role, binding, job)}) == 1


def test_what_the_job_needs_comes_before_it() -> None:
    scope = chart()
    endpoint(scope, plan_with(WITH_JOB))
    order = [(m["kind"], m["metadata"]["name"]) for m in synthesized(scope)]
    (job,) = [place for place, (kind, _) in enumerate(order) if kind == "Job"]
    assert order.index(("Service", "qwen35-9b-decode-metrics")) < job
    assert order.index(("ServiceAccount", "qwen35-9b-check")) < job
    for needed in ("RayService", "ConfigMap", "Role", "RoleBinding"):
        assert [kind for kind, _ in order].index(needed) < job


def test_escape_hatch() -> None:
    scope = chart()
    reached = endpoint(scope, plan_with())
    ApiObject.of(reached).add_json_patch(JsonPatch.add("/metadata/annotations", {"team": "search"}))
    assert only(synthesized(scope), "Service")["metadata"]["annotations"] == {"team": "search"}


def test_parts_in_charts_of_their_own_are_numbered_in_the_order_in_which_they_are_needed(tmp_path: Path) -> None:
    app, plan = App(outdir=str(tmp_path)), plan_with()
    charts = {name: Chart(app, name, disable_resource_name_hashes=True) for name in ("cluster", "endpoint", "service")}
    cluster = RayLlmCluster(charts["cluster"], "cluster", plan=plan)
    service = PrefillDecodeService(charts["service"], "service", plan=plan, cluster=cluster)
    OpenAIEndpoint(charts["endpoint"], "endpoint", plan=plan, service=service)
    app.synth()
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "0000-cluster.k8s.yaml",
        "0001-service.k8s.yaml",
        "0002-endpoint.k8s.yaml",
    ]


WITH_GATEWAY = {"endpoint": {"gateway": GATEWAY}}


def test_a_gateway(yaml_file: SnapshotAssertion) -> None:
    scope = chart()
    endpoint(scope, plan_with(WITH_GATEWAY))
    gateway = [m for m in synthesized(scope) if m["metadata"]["namespace"] == "inference-gateway"]
    assert kinds(gateway) == ["ServiceAccount", "ConfigMap", "Deployment", "Service", "PodDisruptionBudget"]
    assert {m["metadata"]["name"] for m in gateway} == {"qwen35-9b-gateway"}
    files = only(gateway, "ConfigMap")
    assert sorted(files["data"]) == ["haproxy.cfg", "keys.lua", "keys.map"]
    # HAProxy's configuration has a snapshot of its own, and the hash changes with each line of it.
    files["data"] = "elsewhere"
    only(gateway, "Deployment")["spec"]["template"]["metadata"]["annotations"] = "hashed"
    assert gateway == yaml_file


def test_the_stable_name_leads_to_the_gateway() -> None:
    scope = chart()
    reached = endpoint(scope, plan_with(WITH_GATEWAY))
    (service,) = [m for m in synthesized(scope) if m["kind"] == "Service" and m["metadata"]["namespace"] == "inference"]
    assert service["metadata"]["name"] == "qwen35-9b"
    assert service["spec"]["externalName"] == "qwen35-9b-gateway.inference-gateway.svc.cluster.local"
    assert reached.url == "http://qwen35-9b.inference.svc.cluster.local:8000/v1"


def test_the_balancer_routes_to_the_gateway_in_its_namespace() -> None:
    scope = chart()
    endpoint(scope, plan_with({"endpoint.gateway": GATEWAY}))
    ingress = only(synthesized(scope), "Ingress")
    assert ingress["metadata"]["namespace"] == "inference-gateway"
    ((path,),) = [rule["http"]["paths"] for rule in ingress["spec"]["rules"]]
    assert path["backend"] == {"service": {"name": "qwen35-9b-gateway", "port": {"number": 8000}}}


def test_with_keys_the_internet_reaches_the_gateway_and_nothing_else() -> None:
    scope = chart()
    balancer = {name: value for name, value in INTERNET["balancer"].items() if name != "jwt"}
    reached = endpoint(scope, plan_with({"endpoint": {**INTERNET, "balancer": balancer, "gateway": GATEWAY}}))
    assert reached.balancer_url == "https://llm.example.com/v1"
    ingress = only(synthesized(scope), "Ingress")
    assert ingress["metadata"]["namespace"] == "inference-gateway"
    (rule,) = ingress["spec"]["rules"]
    assert [path["backend"]["service"]["name"] for path in rule["http"]["paths"]] == ["qwen35-9b-gateway"]
    annotations = ingress["metadata"]["annotations"]
    assert annotations["alb.ingress.kubernetes.io/scheme"] == "internet-facing"
    assert annotations["alb.ingress.kubernetes.io/healthcheck-path"] == "/-/healthz"
    assert not [key for key in annotations if "auth" in key or "jwt" in key]


def test_a_logins_secret_lies_beside_the_ingress() -> None:
    scope = chart()
    login = {"endpoint.balancer": {"certificate_arn": CERTIFICATE, "oidc": OIDC}}
    endpoint(scope, plan_with({**login, "endpoint.gateway": GATEWAY}))
    manifests = synthesized(scope)
    found = {kind: only(manifests, kind)["metadata"]["namespace"] for kind in ("Ingress", "Role", "RoleBinding")}
    assert set(found.values()) == {"inference-gateway"}


def test_the_job_asks_serve_itself_because_it_has_no_key() -> None:
    scope = chart()
    endpoint(scope, plan_with({"endpoint": {"gateway": GATEWAY, "conformance_job": True}}))
    (container,) = only(synthesized(scope), "Job")["spec"]["template"]["spec"]["containers"]
    assert "--base-url=http://qwen35-9b-serve-svc.inference.svc.cluster.local:8000/v1" in container["args"]
