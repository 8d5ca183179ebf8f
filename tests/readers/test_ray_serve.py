"""Ray accepts a correct serveConfigV2 and builds what is expected; a wrong one it refuses, or reads past."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from readers import kv_transfer, ray_serve
from readers.ray_session import ray_session
from readers.serve_config_keys import EXPERIMENTAL_CONFIGS

SERVE_CONFIG = """
proxy_location: EveryNode
http_options: {host: 0.0.0.0, port: 8000}
applications:
  - name: llm
    route_prefix: /
    import_path: ray.serve.llm:build_pd_openai_app
    args:
      prefill_config:
        model_loading_config: {model_id: example, model_source: example/example-7b}
        accelerator_type: L4
        engine_kwargs:
          tensor_parallel_size: 2
          max_model_len: 4096
          kv_transfer_config: {kv_connector: NixlConnector, kv_role: kv_producer}
        placement_group_config: {bundle_per_worker: {GPU: 1, pd-prefill: 1}, strategy: STRICT_PACK}
        deployment_config: {num_replicas: 3}
      decode_config:
        model_loading_config: {model_id: example, model_source: example/example-7b}
        accelerator_type: L4
        engine_kwargs:
          max_model_len: 4096
          kv_transfer_config: {kv_connector: NixlConnector, kv_role: kv_consumer}
        deployment_config:
          autoscaling_config: {min_replicas: 1, max_replicas: 4, target_ongoing_requests: 32}
          ray_actor_options: {num_cpus: 2, resources: {pd-decode: 1}}
        experimental_configs: {NIXL_SIDE_CHANNEL_PORT_BASE: 22000}
      ingress_deployment_config:
        num_replicas: 2
        ray_actor_options: {num_cpus: 1, resources: {pd-ingress: 0.01}}
"""

APPLICATION = "applications.0"
PREFILL = f"{APPLICATION}.args.prefill_config"
DECODE = f"{APPLICATION}.args.decode_config"
INGRESS = f"{APPLICATION}.args.ingress_deployment_config"
TRANSFER = f"{PREFILL}.engine_kwargs.kv_transfer_config"


def changed(path: str, value: Any) -> dict[str, Any]:
    """Return the document with what the dotted path names set (or with None, removed)."""
    document: dict[str, Any] = yaml.safe_load(SERVE_CONFIG)
    node: Any = document
    *parents, last = path.split(".")
    for part in parents:
        node = node[int(part)] if part.isdigit() else node.setdefault(part, {})
    if value is None:
        del node[last]
    else:
        node[last] = value
    return document


def by_name(document: str | dict[str, Any]) -> dict[str, ray_serve.BuiltDeployment]:
    return {deployment.name: deployment for deployment in ray_serve.build(document)}


def test_builds_every_deployment() -> None:
    built = by_name(SERVE_CONFIG)
    assert [(name, each.is_ingress, each.num_replicas) for name, each in built.items()] == [
        ("Prefill:example", False, 3),
        ("Decode:example", False, None),
        ("OpenAiIngress", True, 2),
    ]


def test_custom_resources_of_a_bundle_reach_every_worker() -> None:
    prefill = by_name(SERVE_CONFIG)["Prefill:example"]
    worker = {"GPU": 1, "pd-prefill": 1, "accelerator_type:L4": 0.001}
    assert prefill.bundles == (worker | {"CPU": 1}, worker)
    assert prefill.placement_strategy == "STRICT_PACK"


def test_resources_of_the_replica_reach_its_first_bundle() -> None:
    decode = by_name(SERVE_CONFIG)["Decode:example"]
    assert decode.bundles == ({"CPU": 2, "GPU": 1, "accelerator_type:L4": 0.001, "pd-decode": 1},)
    assert decode.placement_strategy == "PACK"
    assert decode.deployment_options["autoscaling_config"]["max_replicas"] == 4


def test_the_ingress_has_no_placement_group() -> None:
    ingress = by_name(SERVE_CONFIG)["OpenAiIngress"]
    assert (ingress.bundles, ingress.placement_strategy) == ((), None)
    assert ingress.ray_actor_options["resources"] == {"pd-ingress": 0.01}
    assert ingress.deployment_options["route_prefix"] == "/"


def test_the_application_runtime_env_reaches_every_deployment() -> None:
    environment = {"env_vars": {"HF_HUB_OFFLINE": "1"}}
    built = by_name(changed(f"{APPLICATION}.runtime_env", environment))
    environments = [each.ray_actor_options["runtime_env"]["env_vars"] for each in built.values()]
    assert environments == [environment["env_vars"]] * 3


def test_applies_overrides_by_deployment_name() -> None:
    override = [{"name": "Prefill:example", "num_replicas": 5}]
    assert by_name(changed(f"{APPLICATION}.deployments", override))["Prefill:example"].num_replicas == 5


def test_autoscaling_never_scales_up_without_a_target() -> None:
    """Ray Serve LLM's default target is a billion requests, so the bounds alone mean min_replicas."""
    bounds = {"autoscaling_config": {"min_replicas": 1, "max_replicas": 4}}
    decode = by_name(changed(f"{DECODE}.deployment_config", bounds))["Decode:example"]
    assert decode.deployment_options["autoscaling_config"]["target_ongoing_requests"] == 1e9


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        (
            f"{APPLICATION}.import_path",
            "ray.serve.llm:build_pd_openai_apps",
            "no attribute 'build_pd_openai_apps'",
        ),
        (f"{APPLICATION}.import_path", "ray.serve.lm:build_pd_openai_app", "No module named 'ray.serve.lm'"),
        (f"{APPLICATION}.import_path", None, "Field required"),
        (f"{APPLICATION}.route_prefix", "llm", "must start with a forward slash"),
        (f"{APPLICATION}.runtime_env", {"working_dir": "/app"}, "only remote URIs"),
        (f"{APPLICATION}.runtime_env", {"env_vars": {"A": 1}}, "env_vars"),
        (f"{APPLICATION}.deployments", [{"name": "Prefil:example"}], "'Prefil:example' does not exist"),
        ("proxy_location", "Everywhere", "'HeadOnly' or 'EveryNode'"),
        (f"{APPLICATION}.args.ingres_deployment_config", {}, "Extra inputs are not permitted"),
        (DECODE, None, "decode_config"),
        (f"{PREFILL}.model_loading_config.model_id", "other", "model id mismatch"),
        (f"{PREFILL}.model_loading_config.model_sauce", "x", "model_sauce"),
        (f"{PREFILL}.accelerator_type", "L5", "Unsupported accelerator type: L5"),
        (f"{PREFILL}.engine_kwargs.max_model_length", 1, "Unknown engine argument: max_model_length"),
        (f"{PREFILL}.engine_kwargs.model", "x", "model or served_model_name is not allowed"),
        (TRANSFER, None, "kv_transfer_config is required"),
        (f"{PREFILL}.placement_group_config.strategy", "PACKED", "'STRICT_PACK' or 'STRICT_SPREAD'"),
        (f"{PREFILL}.placement_group_config.bundle_per_worker", {"CPU": 1}, "CPU-only configurations"),
        (f"{PREFILL}.placement_group_config.bundle_per_worker.pd-prefill", -1, "must be non-negative"),
        (f"{PREFILL}.deployment_config.num_replicas", 0, "larger than 0"),
        (f"{PREFILL}.deployment_config.num_replicas", "three", "valid integer"),
        (f"{PREFILL}.deployment_config.num_replica", 3, "unexpected keyword argument 'num_replica'"),
        (
            f"{PREFILL}.deployment_config.autoscaling_config",
            {"max_replicas": 2},
            "num_replicas is not allowed",
        ),
        (f"{PREFILL}.deployment_config.placement_group_bundles", [{"GPU": 1}], "must not be specified"),
        (f"{DECODE}.deployment_config.autoscaling_config.min_replicas", 5, "max_replicas"),
        (f"{DECODE}.deployment_config.ray_actor_options.num_cpu", 1, "'num_cpu' in ray_actor_options"),
        (f"{INGRESS}.num_replica", 1, "unexpected keyword argument 'num_replica'"),
    ],
)
def test_ray_refuses(path: str, value: Any, fault: str) -> None:
    with pytest.raises(ray_serve.RayRefusal) as refusal:
        ray_serve.build(changed(path, value))
    assert fault in str(refusal.value)


@pytest.mark.parametrize("document", ["", "applications", "applications: [", "{}"])
def test_ray_refuses_what_is_no_configuration(document: str) -> None:
    with pytest.raises(ray_serve.RayRefusal):
        ray_serve.build(document)


def test_every_key_of_the_example_is_known() -> None:
    assert ray_serve.unknown_keys(SERVE_CONFIG) == []


@pytest.mark.parametrize(
    "path",
    [
        "proxy_locations",
        "http_options.ports",
        f"{APPLICATION}.rout_prefix",
        f"{APPLICATION}.runtime_env.env_var",
        f"{DECODE}.deployment_config.autoscaling_config.max_replica",
        f"{DECODE}.experimental_configs.NIXL_PORT_BASE",
        f"{TRANSFER}.kv_roles",
    ],
)
def test_names_a_key_that_ray_reads_past(path: str) -> None:
    document = changed(path, {})
    ray_serve.build(document)
    assert ray_serve.unknown_keys(document) == [path.replace(".0.", "[0].") + ": unknown key"]


@pytest.mark.parametrize(
    "path",
    [
        f"{APPLICATION}.args.ingres_deployment_config",
        f"{PREFILL}.model_loading_config.model_sauce",
        f"{PREFILL}.engine_kwargs.max_model_length",
        f"{PREFILL}.placement_group_config.strateg",
        f"{PREFILL}.deployment_config.num_replica",
        f"{DECODE}.deployment_config.ray_actor_options.num_cpu",
        f"{INGRESS}.num_replica",
        f"{INGRESS}.autoscaling_config.max_replica",
    ],
)
def test_names_a_key_at_every_level(path: str) -> None:
    assert ray_serve.unknown_keys(changed(path, 1)) == [path.replace(".0.", "[0].") + ": unknown key"]


@pytest.mark.parametrize(
    ("key", "value"),
    [("kv_connector", "NixlConector"), ("kv_role", "producer"), ("kv_load_failure_policy", "retry")],
)
def test_names_what_vllm_does_not_have(key: str, value: str) -> None:
    document = changed(f"{TRANSFER}.{key}", value)
    ray_serve.build(document)
    (finding,) = ray_serve.unknown_keys(document)
    assert f"kv_transfer_config.{key}: '{value}' is not one of" in finding


def test_names_a_role_that_is_missing() -> None:
    (finding,) = ray_serve.unknown_keys(changed(f"{TRANSFER}.kv_role", None))
    assert "kv_role: None is not one of" in finding


def test_looks_into_a_multi_connector() -> None:
    nested = [{"kv_connector": "NixlConector", "kv_role": "kv_both"}]
    config = {
        "kv_connector": "MultiConnector",
        "kv_role": "kv_both",
        "kv_connector_extra_config": {"connectors": nested},
    }
    (finding,) = kv_transfer.unknown_names(config, "$")
    assert finding.startswith("$.kv_connector_extra_config.connectors[0].kv_connector: 'NixlConector'")


def test_allows_a_connector_from_a_module() -> None:
    config = {"kv_connector": "Mine", "kv_role": "kv_both", "kv_connector_module_path": "my.connectors"}
    assert list(kv_transfer.unknown_names(config, "$")) == []


def test_the_experimental_names_are_rays() -> None:
    with ray_session():
        import ray.llm

        sources = Path(ray.llm.__path__[0]).glob("_internal/serve/**/*.py")
        text = "".join(source.read_text(encoding="utf-8") for source in sources)
    assert {name for name in EXPERIMENTAL_CONFIGS if name not in text} == set()


def test_ray_is_not_started() -> None:
    ray_serve.build(SERVE_CONFIG)
    with ray_session():
        import ray

        assert not ray.is_initialized()


def test_building_leaves_the_document_alone() -> None:
    document = yaml.safe_load(SERVE_CONFIG)
    ray_serve.build(document)
    ray_serve.unknown_keys(document)
    assert document == yaml.safe_load(SERVE_CONFIG)
