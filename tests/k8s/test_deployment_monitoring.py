from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from cdk8s import ApiObject, JsonPatch
from syrupy.assertion import SnapshotAssertion

from constructs_pd import DeploymentMonitoring, DeploymentPlan, PlanError
from readers import custom_resource
from support.rendered import Manifest, chart, kinds, monitoring_of, synthesized
from support.specs import plan_with

MONITORED: dict[str, Any] = {"monitoring": {}}
ALL: dict[str, Any] = {
    "monitoring": {
        "labels": {"release": "kube-prometheus-stack"},
        "runbook_base_url": "https://wiki.example.com/runbooks/",
        "dcgm_exporter": True,
    },
    "slo": {"ttft_p95_seconds": 2.0, "itl_p95_seconds": 0.05, "availability": 0.999},
}
ANNOTATED: dict[str, Any] = {**ALL, "monitoring": {"scraping": "annotations"}}
CRDS = Path(__file__).parents[1] / "readers" / "data" / "prometheus-operator-0.93.0"


def named(manifests: list[Manifest], name: str) -> Manifest:
    (found,) = [manifest for manifest in manifests if manifest["metadata"]["name"] == name]
    return found


def endpoint(manifest: Manifest) -> dict[str, Any]:
    (found,) = manifest["spec"]["podMetricsEndpoints"]
    assert isinstance(found, dict)
    return found


def rules(manifest: Manifest) -> list[dict[str, Any]]:
    return [rule for group in manifest["spec"]["groups"] for rule in group["rules"]]


def test_by_default_there_are_two_monitors_and_the_rules() -> None:
    manifests = monitoring_of(plan_with(MONITORED))
    assert [(manifest["kind"], manifest["metadata"]["name"]) for manifest in manifests] == [
        ("PodMonitor", "qwen35-9b-ray"),
        ("PodMonitor", "qwen35-9b-operator"),
        ("PrometheusRule", "qwen35-9b-rules"),
    ]
    assert {manifest["metadata"]["namespace"] for manifest in manifests} == {"inference"}
    assert len(rules(manifests[-1])) == 62
    assert {rule["alert"] for rule in rules(manifests[-1]) if "alert" in rule}.isdisjoint({"GpuFault"})


def test_everything(yaml_file: SnapshotAssertion) -> None:
    manifests = monitoring_of(plan_with(ALL))
    assert kinds(manifests) == ["PodMonitor", "PodMonitor", "PodMonitor", "PrometheusRule"]
    assert len(rules(manifests[-1])) == 97
    for manifest in manifests:
        assert manifest["metadata"]["labels"]["release"] == "kube-prometheus-stack"
        assert custom_resource.violations(manifest, CRDS) == []
    assert manifests == yaml_file


def test_pods_are_found_by_the_labels_that_they_have() -> None:
    plan = plan_with(MONITORED)
    selector = named(monitoring_of(plan), "qwen35-9b-ray")["spec"]["selector"]
    (role,) = selector["matchExpressions"]
    assert role["values"] == ["head", "prefill", "decode"]
    for labels in (plan.head.pod_labels, plan.prefill.pod_labels, plan.decode.pod_labels):
        assert selector["matchLabels"].items() <= labels.items()
        assert labels[role["key"]] in role["values"]


def test_the_phase_comes_from_the_pods_role() -> None:
    relabelings = endpoint(named(monitoring_of(plan_with(MONITORED)), "qwen35-9b-ray"))["relabelings"]
    assert relabelings == [
        {"sourceLabels": ["__meta_kubernetes_pod_label_constructs_pd_role"], "targetLabel": "phase"},
        {"targetLabel": "ray_service", "replacement": "qwen35-9b"},
    ]


def test_gpus_are_of_the_phase_of_their_node() -> None:
    monitor = named(monitoring_of(plan_with(ALL)), "qwen35-9b-gpus")
    assert monitor["spec"]["attachMetadata"] == {"node": True}
    assert monitor["spec"]["namespaceSelector"] == {"matchNames": ["dcgm-exporter"]}
    kept, phase, _, namespace, exporter = endpoint(monitor)["relabelings"]
    assert (kept["action"], kept["regex"]) == ("keep", r"qwen35\-9b")
    assert phase["sourceLabels"] == ["__meta_kubernetes_node_label_constructs_pd_role"]
    assert (namespace["targetLabel"], namespace["replacement"]) == ("namespace", "inference")
    assert (exporter["targetLabel"], exporter["replacement"]) == ("exporter", "dcgm")


def test_the_operator_is_looked_for_where_the_policies_say_that_it_is() -> None:
    policy = {"network_policy": {"operator_namespace": "operators", "monitoring_namespaces": ["monitoring"]}}
    policy["network_policy"]["balancer_cidrs"] = ["10.0.0.0/24"]
    for changes, namespace in ((MONITORED, "kuberay-system"), ({**MONITORED, **policy}, "operators")):
        monitor = named(monitoring_of(plan_with(changes)), "qwen35-9b-operator")
        assert monitor["spec"]["namespaceSelector"] == {"matchNames": [namespace]}
        assert endpoint(monitor)["honorLabels"] is True


def test_without_rules_there_are_monitors_alone() -> None:
    assert kinds(monitoring_of(plan_with({"monitoring": {"rules": False}}))) == ["PodMonitor", "PodMonitor"]


def test_with_annotations_the_rules_are_in_a_config_map() -> None:
    (manifest,) = monitoring_of(plan_with(ANNOTATED))
    assert (manifest["kind"], manifest["metadata"]["name"]) == ("ConfigMap", "qwen35-9b-rules")
    groups = yaml.safe_load(manifest["data"]["inference-qwen35-9b.rules.yaml"])["groups"]
    assert groups == named(monitoring_of(plan_with({**ALL, "monitoring": {}})), "qwen35-9b-rules")["spec"]["groups"]


def test_with_annotations_the_pods_carry_them() -> None:
    scraped = {"prometheus.io/scrape": "true", "prometheus.io/port": "8080", "prometheus.io/path": "/metrics"}
    pod = {"annotations": {"example.com/owner": "search"}}
    for changes, expected in ((MONITORED, {}), (ANNOTATED, scraped)):
        plan = plan_with({**changes, "decode.pod": pod})
        assert plan.head.pod_annotations == plan.prefill.pod_annotations == expected
        assert plan.decode.pod_annotations == {**pod["annotations"], **expected}


def test_alerts_name_their_pages() -> None:
    for changes, start in ((MONITORED, "docs/runbooks/"), (ALL, "https://wiki.example.com/runbooks/")):
        found = rules(named(monitoring_of(plan_with(changes)), "qwen35-9b-rules"))
        alerts = [rule for rule in found if "alert" in rule]
        assert len(alerts) > 15
        for alert in alerts:
            assert alert["annotations"]["runbook_url"] == f"{start}{alert['alert']}.md"


def test_the_counters_of_efa_get_the_phase_of_their_node() -> None:
    stated = {"namespace": "monitoring", "pod_labels": {"app": "efa"}, "port_name": "http"}
    monitor = named(monitoring_of(plan_with({"monitoring": {"efa_exporter": stated}})), "qwen35-9b-efa")
    assert custom_resource.violations(monitor, CRDS) == []
    assert monitor["spec"]["namespaceSelector"] == {"matchNames": ["monitoring"]}
    assert monitor["spec"]["selector"] == {"matchLabels": {"app": "efa"}}
    assert monitor["spec"]["attachMetadata"] == {"node": True}
    found = endpoint(monitor)
    gpus = endpoint(named(monitoring_of(plan_with(ALL)), "qwen35-9b-gpus"))
    assert (found["port"], found["relabelings"][:-1]) == ("http", gpus["relabelings"][:-1])
    assert found["relabelings"][-1] == {"targetLabel": "exporter", "replacement": "efa"}
    assert found["metricRelabelings"] == [
        {"sourceLabels": ["__name__"], "regex": "node_amazonefa_.+", "action": "keep"}
    ]


def test_the_exporter_of_efa_is_looked_for_by_the_labels_of_awss_instructions() -> None:
    manifests = monitoring_of(plan_with({"monitoring": {"efa_exporter": {"namespace": "default"}}}))
    spec = named(manifests, "qwen35-9b-efa")["spec"]
    assert spec["selector"]["matchLabels"] == {
        "app.kubernetes.io/name": "prometheus-node-exporter",
        "app.kubernetes.io/instance": "efa-node-exporter",
    }
    assert spec["podMetricsEndpoints"][0]["port"] == "metrics"


def dashboards(manifests: list[Manifest]) -> list[Manifest]:
    return [manifest for manifest in manifests if "-dashboard-" in manifest["metadata"]["name"]]


def test_each_dashboard_is_in_a_config_map_for_grafanas_sidecar() -> None:
    plan = plan_with({"monitoring": {"dashboards": {}, "labels": {"release": "stack"}}})
    found = dashboards(monitoring_of(plan))
    assert [manifest["metadata"]["name"] for manifest in found] == [
        "qwen35-9b-dashboard-overview",
        "qwen35-9b-dashboard-hand-over",
        "qwen35-9b-dashboard-endpoint",
    ]
    for manifest in found:
        assert manifest["kind"] == "ConfigMap"
        assert manifest["metadata"]["labels"] == {**plan.labels, "grafana_dashboard": "1"}
        assert "annotations" not in manifest["metadata"]
        ((file, text),) = manifest["data"].items()
        assert file == f"inference-{manifest['metadata']['name'].replace('-dashboard', '')}.json"
        assert json.loads(text)["uid"].startswith("pd-")


def test_a_folder_is_named_by_the_annotation_that_is_stated() -> None:
    stated = {"folder": "LLM serving", "labels": {"dashboards": "yes"}}
    for annotation, key in (({}, "k8s-sidecar-target-directory"), ({"folder_annotation": "folder"}, "folder")):
        found = dashboards(monitoring_of(plan_with({"monitoring": {"dashboards": {**stated, **annotation}}})))
        assert len(found) == 3
        for manifest in found:
            assert manifest["metadata"]["annotations"] == {key: "LLM serving"}
            assert manifest["metadata"]["labels"]["dashboards"] == "yes"
            assert "grafana_dashboard" not in manifest["metadata"]["labels"]


def test_dashboards_are_there_without_the_operator_too() -> None:
    manifests = monitoring_of(plan_with({"monitoring": {"scraping": "annotations", "dashboards": {}}}))
    assert kinds(manifests) == ["ConfigMap"] * 4


def test_without_its_extra_a_dashboard_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("constructs_pd.manifests.dashboards")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "grafana_foundation_sdk", None)
    DeploymentMonitoring(chart(), "monitoring", plan=plan_with(MONITORED))
    with pytest.raises(
        PlanError, match=r"PD524 error test/monitoring: .* grafana_foundation_sdk is not installed"
    ) as raised:
        DeploymentMonitoring(chart(), "monitoring", plan=plan_with({"monitoring": {"dashboards": {}}}))
    assert "pip install 'constructs-pd[observability]'" in raised.value.findings[0].remedy


def test_a_deployment_is_monitored_once_in_an_app() -> None:
    scope = chart()
    DeploymentMonitoring(scope, "first", plan=plan_with(MONITORED))
    with pytest.raises(PlanError, match="PD504 error test/second: test/first has 'qwen35-9b' already"):
        DeploymentMonitoring(scope, "second", plan=plan_with(MONITORED))


def test_two_deployments_are_monitored_side_by_side() -> None:
    scope = chart()
    for name in ("one", "two"):
        DeploymentMonitoring(scope, name, plan=plan_with({**MONITORED, "name": name}))
    manifests = synthesized(scope)
    assert len({manifest["metadata"]["name"] for manifest in manifests}) == len(manifests) == 6


def test_a_plan_without_monitoring_has_none() -> None:
    with pytest.raises(PlanError, match="PD523 error test/monitoring: the plan of 'qwen35-9b' monitors 0 pods"):
        DeploymentMonitoring(chart(), "monitoring", plan=plan_with())


def test_it_is_given_a_plan() -> None:
    with pytest.raises(PlanError, match="PD520"):
        DeploymentMonitoring(chart(), "monitoring", plan="plan")  # type: ignore[arg-type]


def test_escape_hatch() -> None:
    scope = chart()
    monitoring = DeploymentMonitoring(scope, "monitoring", plan=plan_with(MONITORED))
    ApiObject.of(monitoring).add_json_patch(JsonPatch.add("/metadata/labels/team", "search"))
    ray = ApiObject.of(monitoring.node.find_child("ray-monitor"))
    ray.add_json_patch(JsonPatch.replace("/spec/podMetricsEndpoints/0/interval", "60s"))
    manifests = synthesized(scope)
    assert named(manifests, "qwen35-9b-rules")["metadata"]["labels"]["team"] == "search"
    assert endpoint(named(manifests, "qwen35-9b-ray"))["interval"] == "60s"


def test_numbers_that_are_not_known_are_no_thresholds() -> None:
    plan = plan_with({**MONITORED})
    assert plan.monitoring is not None
    unknown = plan.model_copy(update={"monitoring": plan.monitoring.model_copy(update={"hand_over": None})})
    assert isinstance(unknown, DeploymentPlan)
    names = {str(rule.get("record") or rule.get("alert")) for rule in rules(monitoring_of(unknown)[-1])}
    assert names.isdisjoint({"HandOverSlow", "HandOverLinkFull", "phase:hand_over_slow:ratio5m"})
    assert "phase:hand_over_bytes_per_second:rate5m" in names
