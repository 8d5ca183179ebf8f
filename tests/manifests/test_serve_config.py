from __future__ import annotations

from typing import Any

import pytest
import yaml

from constructs_pd import DeploymentPlan
from constructs_pd.manifests.serve_config import serve_config, serve_config_v2
from support.specs import VARIANTS, plan_with


def arguments(plan: DeploymentPlan) -> dict[str, Any]:
    (application,) = serve_config(plan)["applications"]
    assert application["import_path"] == "ray.serve.llm:build_pd_openai_app"
    args: dict[str, Any] = application["args"]
    return args


def test_both_engines_hand_over_through_nixl_over_libfabric() -> None:
    args = arguments(plan_with())
    for phase, role in (("prefill", "kv_producer"), ("decode", "kv_consumer")):
        assert args[f"{phase}_config"]["engine_kwargs"]["kv_transfer_config"] == {
            "kv_connector": "NixlConnector",
            "kv_role": role,
            "kv_buffer_device": "cuda",
            "kv_connector_extra_config": {"backends": ["LIBFABRIC"]},
            "kv_load_failure_policy": "fail",
        }


def test_the_phases_share_what_the_hand_over_compares() -> None:
    prefill, decode = (arguments(plan_with())[f"{phase}_config"] for phase in ("prefill", "decode"))
    assert prefill["model_loading_config"] == decode["model_loading_config"]
    for name in ("dtype", "kv_cache_dtype", "max_model_len"):
        assert prefill["engine_kwargs"][name] == decode["engine_kwargs"][name]


def test_pipeline_parallelism_is_never_asked_for() -> None:
    assert "pipeline_parallel" not in serve_config_v2(plan_with())


def test_each_phase_is_pinned_by_its_resource() -> None:
    for phase in ("prefill", "decode"):
        config = arguments(plan_with())[f"{phase}_config"]
        assert config["placement_group_config"] == {
            "bundle_per_worker": {"GPU": 1, f"pd-{phase}": 1},
            "strategy": "STRICT_PACK",
        }
        assert not {key for key in config["deployment_config"] if key.startswith("placement_group")}


def test_replicas_are_fixed_and_shut_down_in_time() -> None:
    args = arguments(
        plan_with({"prefill.replicas": 2, "decode.replicas": 3, "endpoint.longest_generation_seconds": 60})
    )
    options = [args["prefill_config"]["deployment_config"], args["decode_config"]["deployment_config"]]
    options.append(args["ingress_deployment_config"])
    assert [option["num_replicas"] for option in options] == [2, 3, 6]
    assert {option["graceful_shutdown_timeout_s"] for option in options} == {70}


def test_an_engine_that_died_is_noticed_within_seconds() -> None:
    """Serve waits for three failed checks (Ray 2.58.0, REPLICA_HEALTH_CHECK_UNHEALTHY_THRESHOLD)."""
    args = arguments(plan_with())
    for phase in ("prefill_config", "decode_config"):
        assert 3 * args[phase]["deployment_config"]["health_check_period_s"] < 10


def test_the_accelerator_type_is_left_out_where_ray_has_no_name() -> None:
    assert arguments(plan_with())["prefill_config"]["accelerator_type"] == "L4"
    nameless = arguments(plan_with(VARIANTS["gpu-without-a-ray-name"]))
    assert "accelerator_type" not in nameless["prefill_config"]


def test_serve_listens_on_every_worker() -> None:
    config = serve_config(plan_with({"endpoint.longest_generation_seconds": 60, "endpoint.idle_timeout_seconds": 100}))
    assert config["proxy_location"] == "EveryNode"
    assert config["http_options"] == {
        "host": "0.0.0.0",
        "port": 8000,
        "keep_alive_timeout_s": 105,
        "request_timeout_s": 65,
    }


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_the_text_holds_the_document_with_its_types_and_sorted_keys(changes: dict[str, Any]) -> None:
    plan = plan_with(changes)
    text = serve_config_v2(plan)
    assert yaml.safe_load(text) == serve_config(plan)
    assert text == yaml.safe_dump(yaml.safe_load(text), sort_keys=True, width=120)
    assert "&" not in text  # no YAML anchors: people read this


def test_engine_arguments_of_the_user_reach_their_phase() -> None:
    own = {"seed": 7, "override_generation_config": {"a": [1, 2.5, None]}}
    args = arguments(plan_with({"decode.engine_args": own}))
    assert {name: args["decode_config"]["engine_kwargs"][name] for name in own} == own
    assert "seed" not in args["prefill_config"]["engine_kwargs"]
