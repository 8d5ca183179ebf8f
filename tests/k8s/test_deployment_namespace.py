import pytest
from cdk8s import ApiObject, JsonPatch
from syrupy.assertion import SnapshotAssertion

from constructs_pd import DeploymentNamespace, PlanError
from support.rendered import chart, kinds, synthesized
from support.specs import plan_with


def test_default(yaml_file: SnapshotAssertion) -> None:
    scope = chart()
    DeploymentNamespace(scope, "namespace", plan=plan_with())
    manifests = synthesized(scope)
    assert kinds(manifests) == ["Namespace"]
    assert manifests[0]["metadata"]["name"] == "inference"
    assert manifests == yaml_file


def test_other_namespace() -> None:
    scope = chart()
    DeploymentNamespace(scope, "namespace", plan=plan_with({"namespace": "models"}))
    assert synthesized(scope)[0]["metadata"]["name"] == "models"


def test_escape_hatch() -> None:
    scope = chart()
    namespace = DeploymentNamespace(scope, "namespace", plan=plan_with())
    ApiObject.of(namespace).add_json_patch(JsonPatch.add("/metadata/labels/team", "search"))
    assert synthesized(scope)[0]["metadata"]["labels"]["team"] == "search"


def test_a_namespace_is_written_once_in_an_app() -> None:
    scope = chart()
    DeploymentNamespace(scope, "first", plan=plan_with())
    DeploymentNamespace(scope, "elsewhere", plan=plan_with({"namespace": "other"}))
    with pytest.raises(PlanError, match="PD504 error test/second: test/first has 'inference' already"):
        DeploymentNamespace(scope, "second", plan=plan_with({"name": "another"}))


def test_the_namespace_that_every_cluster_has_is_not_written() -> None:
    with pytest.raises(PlanError, match="PD505 error test/namespace: 'default' is in every cluster already"):
        DeploymentNamespace(chart(), "namespace", plan=plan_with({"namespace": "default"}))
