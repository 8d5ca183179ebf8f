"""The Helm charts that a deployment needs in its cluster."""

from __future__ import annotations

from typing import Any

import pytest

from constructs_pd import plan
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.cluster_plan import ChartPlan
from support.changes import CATALOG
from support.specs import FOUR_GPU_ROW, plan_with, spec_with

NEW = {"eks_cluster": {"other_zones": ["us-west-2b"]}}
ROWS = load_catalog().charts
TOLERATIONS = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
CONTROLLER = "aws-load-balancer-controller"


MONITORED = {"monitoring": {"scraping": "annotations", "dcgm_exporter": True}}


def charts(changes: dict[str, Any] | None = None) -> dict[str, ChartPlan]:
    return {chart.name: chart for chart in plan_with({**MONITORED, **(changes or {})}).charts}


def test_every_chart_of_the_catalogue_is_needed_in_the_order_of_its_name() -> None:
    assert list(charts()) == sorted(ROWS)


def test_a_new_cluster_needs_the_same_as_one_that_exists() -> None:
    assert charts(NEW) == charts()


def test_the_controller_is_there_for_a_balancer_only() -> None:
    assert charts().keys() - charts({"endpoint.exposure": "cluster"}).keys() == {CONTROLLER}


@pytest.mark.parametrize("monitoring", [None, {}])
def test_the_exporter_of_gpu_metrics_is_there_where_it_is_asked_for(monitoring: dict[str, Any] | None) -> None:
    assert charts().keys() - charts({"monitoring": monitoring}).keys() == {"dcgm-exporter"}


def test_the_exporter_is_annotated_where_pods_are() -> None:
    annotations = {"prometheus.io/scrape": "true", "prometheus.io/port": "9400", "prometheus.io/path": "/metrics"}
    assert charts()["dcgm-exporter"].values["podAnnotations"] == annotations
    assert "podAnnotations" not in charts({"monitoring": {"dcgm_exporter": True}})["dcgm-exporter"].values


def test_versions_and_repositories_come_from_the_catalogue() -> None:
    found = {name: (chart.version, chart.repository) for name, chart in charts().items()}
    assert found == {name: (row.version, row.repository) for name, row in ROWS.items()}


def leaves(values: dict[str, Any], path: str = "") -> list[str]:
    return [
        leaf
        for name, value in values.items()
        for leaf in (leaves(value, f"{path}{name}.") if isinstance(value, dict) else [f"{path}{name}"])
    ]


def test_every_value_that_is_set_has_its_reason_and_every_reason_its_value() -> None:
    reasons = load_catalog().chart_values
    for chart in charts().values():
        stated = [row.path for row in reasons.values() if row.chart == chart.name]
        found = leaves({**chart.values, **chart.cluster_values})
        assert all(any(f"{leaf}.".startswith(f"{value}.") for value in stated) for leaf in found), chart.name
        assert all(any(f"{leaf}.".startswith(f"{value}.") for leaf in found) for value in stated), chart.name
    assert {row.chart for row in reasons.values()} <= charts().keys()


def test_the_chart_of_kuberay_follows_the_stated_version() -> None:
    planned = plan(spec_with({"kuberay_version": "1.7.1"}), CATALOG)
    assert {chart.name: chart.version for chart in planned.charts}["kuberay-operator"] == "1.7.1"


def test_adapters_are_offered_on_every_type_of_the_catalogue_and_on_those_of_ones_own() -> None:
    own = {**FOUR_GPU_ROW, "instance_type": "own.12xlarge"}
    found = charts({"custom_instances": [own], "decode.instance_type": "own.12xlarge", "decode.tensor_parallel": 1})
    values = found["aws-efa-k8s-device-plugin"].values
    assert values["supportedInstanceLabels"] == {"values": sorted([*load_catalog().instances, "own.12xlarge"])}


@pytest.mark.parametrize(
    ("region", "registry"),
    [
        ("us-west-2", "602401143452.dkr.ecr.us-west-2.amazonaws.com"),
        ("cn-north-1", "918309763551.dkr.ecr.cn-north-1.amazonaws.com.cn"),
    ],
)
def test_the_plugin_for_adapters_comes_from_the_regions_registry(region: str, registry: str) -> None:
    values = charts({"region": region, "availability_zone": f"{region}a"})["aws-efa-k8s-device-plugin"].values
    assert values["image"] == {"repository": f"{registry}/eks/aws-efa-k8s-device-plugin"}


def test_it_comes_from_the_charts_own_registry_where_the_regions_is_not_known() -> None:
    elsewhere = {"region": "ap-southeast-5", "availability_zone": "ap-southeast-5a"}
    assert "image" not in charts(elsewhere)["aws-efa-k8s-device-plugin"].values


def test_both_plugins_tolerate_the_taint_of_gpu_nodes() -> None:
    found = charts()
    assert found["aws-efa-k8s-device-plugin"].values["tolerations"] == TOLERATIONS
    assert found["nvidia-device-plugin"].values == {
        "nodeSelector": {"nvidia.com/gpu.present": "true"},
        "tolerations": TOLERATIONS,
    }


def test_the_controller_knows_its_cluster_and_acts_for_no_service() -> None:
    controller = charts()[CONTROLLER]
    assert controller.cluster_values == {"clusterName": "cluster_name", "vpcId": "vpc_id"}
    assert controller.values["region"] == "us-west-2"
    assert controller.values["enableServiceMutatorWebhook"] is False


def test_only_the_controller_has_permissions_and_those_of_its_account() -> None:
    found = charts()
    permissions = {name: chart.permissions for name, chart in found.items() if chart.permissions is not None}
    assert list(permissions) == [CONTROLLER]
    assert permissions[CONTROLLER].service_account == CONTROLLER
    assert found[CONTROLLER].values["serviceAccount"] == {"name": CONTROLLER}
    assert permissions[CONTROLLER].namespace == found[CONTROLLER].namespace


def test_the_controllers_policy_is_of_its_version() -> None:
    permissions = charts()[CONTROLLER].permissions
    assert permissions is not None
    assert permissions.policy_file == f"{CONTROLLER}-{ROWS[CONTROLLER].version}.json"
