"""The keys of a serveConfigV2 document against the fields of Ray's own classes.

Most of Ray's schemas ignore a key that they do not know, so that an old Ray reads a new document. A typing
error then silently means a default. This reader names such keys. Below a P/D application's `args` it
knows the levels of LLMConfig; the values of `engine_kwargs` (other than `kv_transfer_config`), `user_config`
and the `args` of another builder are open to it.
"""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from . import kv_transfer
from .ray_session import argument_names, ray_session

if TYPE_CHECKING:
    from pydantic import BaseModel

PD_BUILDER = ("ray.serve.llm:build_pd_openai_app", "ray.serve.llm.build_pd_openai_app")

#: What Ray 2.58 reads from LLMConfig.experimental_configs (found by that name in `ray/llm/_internal/serve`),
#: and num_ingress_replicas, which its documentation names and nothing reads.
EXPERIMENTAL_CONFIGS = frozenset(
    {
        "KV_EVENTS_PORT_BASE",
        "KV_INDEXER_THREADS",
        "KV_TOKEN_PORT_BASE",
        "MORI_HANDSHAKE_PORT_BASE",
        "MORI_NOTIFY_PORT_BASE",
        "NIXL_SIDE_CHANNEL_PORT_BASE",
        "_prewarm_prefill_decode",
        "num_ingress_replicas",
        "pd_tokenize_once",
        "stream_batching_interval_ms",
    }
)


@dataclass(frozen=True)
class _Level:
    """The keys of one mapping, and the levels below those that are checked too."""

    keys: frozenset[str]
    below: Mapping[str, "_Level"] = field(default_factory=dict)


def unknown_keys(serve_config: str | dict[str, Any]) -> list[str]:
    """Return the path of each key that no class of Ray's (or vLLM's KVTransferConfig) has.

    Also what vLLM refuses in a kv_transfer_config by name: an unknown connector, role or failure policy.
    """
    document = yaml.safe_load(serve_config) if isinstance(serve_config, str) else serve_config
    with ray_session():
        document_level, pd_arguments = _levels()
    found = list(_unknown(document, document_level, ""))
    for index, application in enumerate(_list(document, "applications")):
        if isinstance(application, dict) and application.get("import_path") in PD_BUILDER:
            path = f"applications[{index}].args"
            found += _unknown(application.get("args"), pd_arguments, path)
            for phase in ("prefill_config", "decode_config"):
                transfer = _mapping(_mapping(_mapping(application, "args"), phase), "engine_kwargs")
                found += kv_transfer.unknown_names(
                    transfer.get("kv_transfer_config"), f"{path}.{phase}.engine_kwargs.kv_transfer_config"
                )
    return found


def _unknown(node: Any, level: _Level, path: str) -> Iterator[str]:
    if isinstance(node, list):
        for index, item in enumerate(node):
            yield from _unknown(item, level, f"{path}[{index}]")
    if not isinstance(node, dict):
        return  # A value of the wrong type is Ray's to refuse.
    for key, value in node.items():
        key_path = f"{path}.{key}".lstrip(".")
        if key not in level.keys:
            yield f"{key_path}: unknown key"
        elif key in level.below:
            yield from _unknown(value, level.below[key], key_path)


def _mapping(node: dict[str, Any], key: str) -> dict[str, Any]:
    value = node.get(key)
    return value if isinstance(value, dict) else {}


def _list(node: Any, key: str) -> list[Any]:
    value = node.get(key) if isinstance(node, dict) else None
    return value if isinstance(value, list) else []


def _model(model: "type[BaseModel]", **below: _Level) -> _Level:
    return _Level(frozenset(model.model_fields), below)


@cache
def _levels() -> tuple[_Level, _Level]:
    """Return the level of the document and that of a P/D application's `args`."""
    from ray import serve
    from ray.llm._internal.common.callbacks.base import CallbackConfig
    from ray.llm._internal.common.placement import PlacementGroupConfig
    from ray.llm._internal.common.utils.cloud_utils import CloudMirrorConfig
    from ray.llm._internal.serve.core.configs.accelerators import TPUConfig
    from ray.llm._internal.serve.core.configs.llm_config import LLMConfig, LoraConfig, ModelLoadingConfig
    from ray.llm._internal.serve.core.ingress.builder import IngressClsConfig
    from ray.llm._internal.serve.serving_patterns.prefill_decode.builder import PDServingArgs
    from ray.runtime_env import RuntimeEnv
    from ray.serve import config, schema

    runtime_env = _Level(frozenset(RuntimeEnv.known_fields))
    logging_config = _model(schema.LoggingConfig)
    deployment_levels = {
        "autoscaling_config": _model(config.AutoscalingConfig, policy=_model(config.AutoscalingPolicy)),
        "backpressure_config": _model(config.BackpressureConfig),
        "deployment_actors": _model(config.DeploymentActorConfig),
        "gang_scheduling_config": _model(config.GangSchedulingConfig),
        "logging_config": logging_config,
        "ray_actor_options": _model(schema.RayActorOptionsSchema, runtime_env=runtime_env),
        "request_router_config": _model(config.RequestRouterConfig),
    }
    document = _model(
        schema.ServeDeploySchema,
        http_options=_model(schema.HTTPOptionsSchema),
        grpc_options=_model(schema.gRPCOptionsSchema),
        controller_options=_model(config.ControllerOptions),
        logging_config=logging_config,
        applications=_model(
            schema.ServeApplicationSchema,
            runtime_env=runtime_env,
            logging_config=logging_config,
            autoscaling_policy=_model(config.AutoscalingPolicy),
            deployments=_model(schema.DeploymentSchema, **deployment_levels),
        ),
    )

    # Both go to serve.deployment(); the version is removed there, and an LLM server sets its own bundles.
    options = frozenset(inspect.signature(serve.deployment).parameters) - {"_func_or_class", "version"}
    llm_config = _model(
        LLMConfig,
        runtime_env=runtime_env,
        model_loading_config=_model(ModelLoadingConfig, model_source=_model(CloudMirrorConfig)),
        engine_kwargs=_Level(frozenset(argument_names("engine") + argument_names("frontend"))),
        accelerator_config=_model(TPUConfig),
        placement_group_config=_model(PlacementGroupConfig),
        lora_config=_model(LoraConfig),
        deployment_config=_Level(options - {"placement_group_bundles", "placement_group_strategy"}, deployment_levels),
        experimental_configs=_Level(EXPERIMENTAL_CONFIGS),
        callback_config=_Level(frozenset(CallbackConfig.__dataclass_fields__)),
    )
    pd_arguments = _model(
        PDServingArgs,
        prefill_config=llm_config,
        decode_config=llm_config,
        ingress_cls_config=_model(IngressClsConfig),
        ingress_deployment_config=_Level(options, deployment_levels),
    )
    return document, pd_arguments
