from __future__ import annotations

from constructs_pd.manifests.ray_cluster import ray_cluster_spec
from support.specs import plan_with


def test_the_ray_version_is_the_images() -> None:
    plan = plan_with()
    assert ray_cluster_spec(plan)["rayVersion"] == plan.versions.ray == "2.58.0"


def test_the_head_offers_ray_nothing() -> None:
    start = ray_cluster_spec(plan_with())["headGroupSpec"]["rayStartParams"]
    assert (start["num-cpus"], start["num-gpus"]) == ("0", "0")


def test_one_group_per_phase_of_a_fixed_size() -> None:
    groups = ray_cluster_spec(plan_with({"prefill.replicas": 2, "decode.replicas": 3}))["workerGroupSpecs"]
    assert [group["groupName"] for group in groups] == ["prefill", "decode"]
    sizes = [{group[key] for key in ("replicas", "minReplicas", "maxReplicas")} for group in groups]
    assert sizes == [{2}, {3}]


def test_custom_resources_are_texts_and_not_mixed_with_ray_start_parameters() -> None:
    for group in ray_cluster_spec(plan_with())["workerGroupSpecs"]:
        assert all(isinstance(amount, str) for amount in group["resources"].values())
        assert not {"num-cpus", "num-gpus", "memory", "resources", "labels"} & set(group["rayStartParams"])


def test_every_ray_start_parameter_is_text() -> None:
    spec = ray_cluster_spec(plan_with())
    for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())


def test_the_object_store_fits_shared_memory() -> None:
    spec = ray_cluster_spec(plan_with())
    for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        shared = int(group["template"]["spec"]["volumes"][0]["emptyDir"]["sizeLimit"].removesuffix("Gi"))
        assert int(group["rayStartParams"]["object-store-memory"]) <= shared * 1024**3


def test_fault_tolerance_is_off_unless_stated() -> None:
    assert "gcsFaultToleranceOptions" not in ray_cluster_spec(plan_with())


def test_fault_tolerance_takes_user_and_password_from_secrets_and_sets_nothing_that_kuberay_refuses_beside_it() -> None:
    redis = {
        "redis_address": "rediss://redis.cache:6379",
        "redis_username": {"secret_name": "redis", "key": "user"},
        "redis_password": {"secret_name": "redis", "key": "password"},
        "storage_namespace": "qwen",
    }
    spec = ray_cluster_spec(plan_with({"gcs_fault_tolerance": redis}))
    assert spec["gcsFaultToleranceOptions"] == {
        "backend": "redis",
        "redisAddress": "rediss://redis.cache:6379",
        "redisUsername": {"valueFrom": {"secretKeyRef": {"name": "redis", "key": "user"}}},
        "redisPassword": {"valueFrom": {"secretKeyRef": {"name": "redis", "key": "password"}}},
        "externalStorageNamespace": "qwen",
    }
    head = spec["headGroupSpec"]
    names = {variable["name"] for variable in head["template"]["spec"]["containers"][0]["env"]}
    assert not names & {"RAY_REDIS_ADDRESS", "REDIS_PASSWORD", "REDIS_USERNAME"}
    assert not {"redis-password", "redis-username"} & set(head["rayStartParams"])
    assert "annotations" not in head["template"]["metadata"]


def test_fault_tolerance_without_a_password() -> None:
    spec = ray_cluster_spec(plan_with({"gcs_fault_tolerance": {"redis_address": "redis:6379"}}))
    assert spec["gcsFaultToleranceOptions"] == {"backend": "redis", "redisAddress": "redis:6379"}


def test_ray_does_not_scale_the_groups_itself() -> None:
    assert ray_cluster_spec(plan_with())["enableInTreeAutoscaling"] is False


def test_ray_takes_no_port_at_random_that_another_pod_asks_for() -> None:
    plan = plan_with()
    spec = ray_cluster_spec(plan)
    for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        start = {name: int(value) for name, value in group["rayStartParams"].items() if name.endswith("-port")}
        assert start == {
            "dashboard-agent-grpc-port": 6383,
            "dashboard-agent-listen-port": 52365,
            "max-worker-port": 19999,
            "min-worker-port": 10002,
            "node-manager-port": 6380,
            "object-manager-port": 6381,
            "runtime-env-agent-port": 6382,
        }
    single = [port for name, port in plan.ports.model_dump().items() if name not in ("first_worker", "last_worker")]
    assert len(set(single)) == len(single)
    between = range(plan.ports.first_worker, plan.ports.last_worker + 1)
    assert not {*single, plan.prefill.nixl_side_channel_port, plan.decode.nixl_side_channel_port} & set(between)


def test_ray_asks_for_a_token_where_that_is_wanted_and_kuberay_makes_it() -> None:
    assert "authOptions" not in ray_cluster_spec(plan_with())
    # KubeRay 1.7.0 validation.go: with enableK8sTokenAuth it refuses a RayService.
    assert ray_cluster_spec(plan_with({"ray_authentication": "token"}))["authOptions"] == {"mode": "token"}
