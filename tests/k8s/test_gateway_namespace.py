import pytest
from cdk8s import ApiObject, JsonPatch

from constructs_pd import DeploymentNamespace, GatewayNamespace, PlanError
from support.gateway import GATEWAY
from support.rendered import chart, only, synthesized
from support.specs import plan_with

WITH_GATEWAY = {"endpoint.gateway": GATEWAY}


def test_it_is_restricted() -> None:
    scope = chart()
    GatewayNamespace(scope, "namespace", plan=plan_with({"endpoint": {"gateway": GATEWAY}}))
    (manifest,) = synthesized(scope)
    assert (manifest["kind"], manifest["metadata"]["name"]) == ("Namespace", "inference-gateway")
    assert manifest["metadata"]["labels"] == {"pod-security.kubernetes.io/enforce": "restricted"}


def test_with_a_balancer_a_pod_is_ready_when_the_balancer_has_found_it_healthy() -> None:
    scope = chart()
    GatewayNamespace(scope, "namespace", plan=plan_with(WITH_GATEWAY))
    assert only(synthesized(scope), "Namespace")["metadata"]["labels"] == {
        "pod-security.kubernetes.io/enforce": "restricted",
        "elbv2.k8s.aws/pod-readiness-gate-inject": "enabled",
    }


def test_it_is_written_beside_the_namespace_that_every_cluster_has() -> None:
    scope = chart()
    GatewayNamespace(scope, "namespace", plan=plan_with({**WITH_GATEWAY, "namespace": "default"}))
    assert only(synthesized(scope), "Namespace")["metadata"]["name"] == "default-gateway"


def test_it_is_written_once_in_an_app() -> None:
    scope = chart()
    GatewayNamespace(scope, "first", plan=plan_with(WITH_GATEWAY))
    with pytest.raises(PlanError, match="PD504 error test/second: test/first has 'inference-gateway' already"):
        GatewayNamespace(scope, "second", plan=plan_with({**WITH_GATEWAY, "name": "another"}))


def test_a_deployments_namespace_may_not_have_its_name() -> None:
    scope = chart()
    GatewayNamespace(scope, "gateways", plan=plan_with(WITH_GATEWAY))
    with pytest.raises(PlanError, match="PD504 error test/others: test/gateways has 'inference-gateway' already"):
        DeploymentNamespace(scope, "others", plan=plan_with({"namespace": "inference-gateway", "name": "another"}))


def test_a_plan_without_a_gateway_has_none() -> None:
    with pytest.raises(PlanError, match="PD522 error test/namespace: the plan of 'qwen35-9b' has 0 gateways"):
        GatewayNamespace(chart(), "namespace", plan=plan_with())


def test_escape_hatch() -> None:
    scope = chart()
    namespace = GatewayNamespace(scope, "namespace", plan=plan_with(WITH_GATEWAY))
    ApiObject.of(namespace).add_json_patch(JsonPatch.add("/metadata/labels/team", "search"))
    assert only(synthesized(scope), "Namespace")["metadata"]["labels"]["team"] == "search"
