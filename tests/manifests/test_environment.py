from __future__ import annotations

from typing import Any

from constructs_pd.manifests.environment import head_environment, worker_environment
from support.specs import plan_with


def by_name(variables: list[dict[str, Any]]) -> dict[str, Any]:
    names = [variable["name"] for variable in variables]
    assert names == sorted(set(names))
    return {variable["name"]: variable.get("value", variable.get("valueFrom")) for variable in variables}


def test_the_head_sees_no_gpu() -> None:
    assert by_name(head_environment(plan_with()))["NVIDIA_VISIBLE_DEVICES"] == "void"


def test_workers_announce_the_address_of_their_pod() -> None:
    plan = plan_with()
    for phase in plan.phases:
        variables = by_name(worker_environment(plan, phase))
        for name in ("VLLM_HOST_IP", "VLLM_NIXL_SIDE_CHANNEL_HOST"):
            assert variables[name] == {"fieldRef": {"fieldPath": "status.podIP"}}


def test_what_must_never_be_set_is_not() -> None:
    plan = plan_with()
    every = [*head_environment(plan), *worker_environment(plan, plan.prefill), *worker_environment(plan, plan.decode)]
    names = {variable["name"] for variable in every}
    assert not names & {
        "VLLM_NIXL_SIDE_CHANNEL_PORT",
        "NIXL_BACKEND",
        "VLLM_NIXL_KVCACHE_BACKEND",
        "NCCL_SOCKET_IFNAME",
        "RAY_REDIS_ADDRESS",
    }


def test_workers_use_efa() -> None:
    plan = plan_with()
    variables = by_name(worker_environment(plan, plan.decode))
    assert (variables["FI_PROVIDER"], variables["FI_EFA_USE_DEVICE_RDMA"], variables["FI_EFA_FORK_SAFE"]) == (
        "efa",
        "1",
        "1",
    )


def test_token_and_cache_reach_head_and_workers() -> None:
    plan = plan_with()
    for variables in (head_environment(plan), worker_environment(plan, plan.prefill)):
        assert by_name(variables)["HF_TOKEN"] == {"secretKeyRef": {"name": "hugging-face", "key": "token"}}
        assert by_name(variables)["HF_HOME"] == "/models/huggingface"


def test_without_token_and_cache_neither_is_mentioned() -> None:
    plan = plan_with({"hugging_face_token": None, "model_cache": None})
    for variables in (head_environment(plan), worker_environment(plan, plan.prefill)):
        assert not {"HF_TOKEN", "HF_HOME"} & set(by_name(variables))


def test_ray_drains_as_long_as_the_plan_says() -> None:
    plan = plan_with({"drain_seconds": 777})
    for variables in (head_environment(plan), worker_environment(plan, plan.prefill)):
        assert by_name(variables)["RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S"] == "777"


def test_rays_router_waits_as_long_as_an_answer_may_take() -> None:
    plan = plan_with({"endpoint.longest_generation_seconds": 1800})
    for variables in (head_environment(plan), worker_environment(plan, plan.prefill)):
        assert by_name(variables)["RAY_SERVE_LLM_ROUTER_HTTP_TIMEOUT"] == "1800"


def test_users_variables_reach_the_pods_they_name() -> None:
    pod = {"environment": {"VLLM_LOGGING_LEVEL": "DEBUG"}, "secret_environment": {"A_KEY": {"secret_name": "s"}}}
    plan = plan_with({"prefill.pod": pod, "head": {"pod": {"environment": {"X": "1"}}}})
    prefill = by_name(worker_environment(plan, plan.prefill))
    assert prefill["VLLM_LOGGING_LEVEL"] == "DEBUG"
    assert prefill["A_KEY"] == {"secretKeyRef": {"name": "s", "key": "token"}}
    assert not {"VLLM_LOGGING_LEVEL", "A_KEY", "X"} & set(by_name(worker_environment(plan, plan.decode)))
    assert by_name(head_environment(plan))["X"] == "1"


def test_rdma_is_not_asked_for_where_the_adapter_has_none() -> None:
    plan = plan_with({"prefill.instance_type": "g5.8xlarge"})
    assert "FI_EFA_USE_DEVICE_RDMA" not in plan.prefill.environment
    assert plan.decode.environment["FI_EFA_USE_DEVICE_RDMA"] == "1"
