from constructs_pd.manifests.ray_cluster import ray_cluster_spec
from constructs_pd.manifests.ray_service import ray_service_annotations, ray_service_spec
from constructs_pd.manifests.serve_config import serve_config_v2
from support.specs import plan_with


def test_a_change_starts_a_second_cluster_only_where_there_is_room_for_it() -> None:
    assert ray_service_spec(plan_with())["upgradeStrategy"] == {"type": "None"}
    room = {"upgrade": {"strategy": "new_cluster"}, "prefill.max_nodes": 2, "decode.max_nodes": 2}
    assert ray_service_spec(plan_with(room))["upgradeStrategy"] == {"type": "NewCluster"}


def test_a_service_is_given_up_only_on_request() -> None:
    assert ray_service_annotations(plan_with()) == {}
    annotations = ray_service_annotations(plan_with({"initializing_timeout_seconds": 7200}))
    assert annotations == {"ray.io/initializing-timeout": "7200"}


def test_it_holds_the_cluster_and_the_application() -> None:
    spec = ray_service_spec(plan_with())
    assert spec["rayClusterConfig"] == ray_cluster_spec(plan_with())
    assert spec["serveConfigV2"] == serve_config_v2(plan_with())


def test_clients_are_not_sent_to_the_head() -> None:
    assert ray_service_spec(plan_with())["excludeHeadPodFromServeSvc"] is True


def test_what_kuberay_ignores_is_not_written() -> None:
    ignored = {"serviceUnhealthySecondThreshold", "deploymentUnhealthySecondThreshold"}
    assert not ignored & set(ray_service_spec(plan_with()))
