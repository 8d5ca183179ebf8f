"""The one transformation of a rehearsal: from the plan's `serveConfigV2` to one that runs on this machine.

Pure. CHANGES lists every key that it touches, with the reason; docs/rehearsal.md shows the list, and a test asserts
that nothing else differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from constructs_pd.planning.observability import is_loopback
from constructs_pd.rehearsal.engines import EngineName
from constructs_pd.rehearsal.nodes import NODE_ADDRESS

PHASES: Final = ("prefill", "decode")


@dataclass(frozen=True)
class Change:
    """A key that a rehearsal changes.

    Attributes:
        path: Where it is; `PHASE` stands for prefill_config and decode_config.
        engines: The engines with which it changes.
        becomes: What it becomes.
        reason: Why.
    """

    path: str
    engines: tuple[EngineName, ...]
    becomes: str
    reason: str


_BOTH: Final[tuple[EngineName, ...]] = ("vllm", "mock")
_REAL: Final[tuple[EngineName, ...]] = ("vllm",)

# Engine arguments that say something of the GPU, or of the model that the tiny one stands for.
GPU_ARGUMENTS: Final = (
    "all2all_backend",
    "attention_backend",
    "attention_config",
    "compilation_config",
    "cpu_offload_gb",
    "cudagraph_capture_sizes",
    "gdn_prefill_backend",
    "kernel_config",
    "kv_cache_memory_bytes",
    "linear_backend",
    "mamba_backend",
    "max_cudagraph_capture_size",
    "moe_backend",
    "num_gpu_blocks_override",
    "optimization_level",
    "performance_mode",
)
MODEL_ARGUMENTS: Final = (
    "chat_template",
    "code_revision",
    "config_format",
    "enable_expert_parallel",
    "hf_config_path",
    "hf_overrides",
    "language_model_only",
    "limit_mm_per_prompt",
    "load_format",
    "mm_processor_kwargs",
    "model_loader_extra_config",
    "quantization",
    "quantization_config",
    "reasoning_config",
    "reasoning_parser",
    "speculative_config",
    "tokenizer",
    "tokenizer_mode",
    "tokenizer_revision",
)

CHANGES: Final = (
    Change("http_options.host", _BOTH, f"`{NODE_ADDRESS}`", "nobody else on the network reaches a rehearsal"),
    Change(
        "http_options.port",
        _BOTH,
        "a free port, or `--port`",
        "all raylets share one address, and something may listen on the plan's port",
    ),
    Change(
        "PHASE.experimental_configs.NIXL_SIDE_CHANNEL_PORT_BASE",
        _BOTH,
        "free ports",
        "all raylets share one address, and something may listen on the plan's ports",
    ),
    Change("PHASE.model_loading_config.model_source", _REAL, "a tiny model made on disk", "it loads in seconds"),
    Change("PHASE.accelerator_type", _REAL, "left out", "there is no such GPU, and Ray refuses it beside CPU bundles"),
    Change("PHASE.placement_group_config.bundle_per_worker.GPU", _REAL, "left out", "there is no GPU"),
    Change(
        "PHASE.placement_group_config.bundle_per_worker.CPU",
        _REAL,
        "what GPU was",
        "a bundle without a GPU makes Ray Serve LLM choose the CPU; custom resources stay, so placement does",
    ),
    Change("PHASE.engine_kwargs.kv_transfer_config.kv_buffer_device", _REAL, "`cpu`", "the KV cache lies in memory"),
    Change(
        "PHASE.engine_kwargs.kv_transfer_config.kv_connector_extra_config.backends",
        _REAL,
        "`[UCX]`",
        "there is no EFA; UCX moves the cache over the loopback device",
    ),
    Change(
        "PHASE.engine_kwargs.otlp_traces_endpoint",
        _BOTH,
        "left out, unless the collector is on this machine",
        "what a collector is told stands for real requests",
    ),
    Change("PHASE.engine_kwargs.enforce_eager", _REAL, "`true`", "compiling takes minutes and shows nothing here"),
    Change(
        "PHASE.engine_kwargs.kv_cache_dtype", _REAL, "left out", "vLLM's CPU attention has no FP8 cache of all kinds"
    ),
    Change("PHASE.engine_kwargs.disable_hybrid_kv_cache_manager", _REAL, "left out", "the tiny model is not hybrid"),
    *(Change(f"PHASE.engine_kwargs.{name}", _REAL, "left out", "it is about the GPU") for name in GPU_ARGUMENTS),
    *(Change(f"PHASE.engine_kwargs.{name}", _REAL, "left out", "it is about the model") for name in MODEL_ARGUMENTS),
)

_COLLECTOR: Final = "otlp_traces_endpoint"
_LEFT_OUT: Final = (*GPU_ARGUMENTS, *MODEL_ARGUMENTS, "kv_cache_dtype", "disable_hybrid_kv_cache_manager")


@dataclass(frozen=True)
class Machine:
    """What a rehearsal finds or makes on this machine.

    Attributes:
        serve_port: Where Serve's proxies listen.
        side_channel_ports: First port of the NIXL handshake, by phase.
        model_folder: The tiny model; none with the mock engine, which loads nothing.
    """

    serve_port: int
    side_channel_ports: Mapping[str, int]
    model_folder: str | None


def on_this_machine(document: Mapping[str, Any], machine: Machine) -> dict[str, Any]:
    """Return the Serve configuration for this machine; the original stays as it is."""
    changed = deepcopy(dict(document))
    changed["http_options"] |= {"host": NODE_ADDRESS, "port": machine.serve_port}
    for phase in PHASES:
        config = llm_config(changed, phase)
        config["experimental_configs"]["NIXL_SIDE_CHANNEL_PORT_BASE"] = machine.side_channel_ports[phase]
        if not is_loopback(str(config["engine_kwargs"].get(_COLLECTOR, ""))):
            config["engine_kwargs"].pop(_COLLECTOR, None)
        if machine.model_folder is not None:
            _to_cpu(config, machine.model_folder)
    return changed


def llm_config(document: Mapping[str, Any], phase: str) -> dict[str, Any]:
    """Return a phase's part of a Serve configuration."""
    config: dict[str, Any] = document["applications"][0]["args"][f"{phase}_config"]
    return config


def _to_cpu(config: dict[str, Any], model_folder: str) -> None:
    config["model_loading_config"]["model_source"] = model_folder
    config.pop("accelerator_type", None)
    bundle = config["placement_group_config"]["bundle_per_worker"]
    bundle["CPU"] = bundle.get("CPU", 0) + bundle.pop("GPU")
    arguments = config["engine_kwargs"]
    for name in _LEFT_OUT:
        arguments.pop(name, None)
    arguments["enforce_eager"] = True
    transfer = arguments["kv_transfer_config"]
    transfer["kv_buffer_device"] = "cpu"
    transfer["kv_connector_extra_config"]["backends"] = ["UCX"]


def aggregated(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration that serves the same model from one plain engine.

    It is prefill's engine on a prefill node, without the hand-over: whatever differs in decode's is found.
    """
    changed = deepcopy(dict(document))
    application = changed["applications"][0]
    config = llm_config(changed, "prefill")
    del config["experimental_configs"]
    del config["engine_kwargs"]["kv_transfer_config"]
    config["deployment_config"]["num_replicas"] = 1
    application["import_path"] = "ray.serve.llm:build_openai_app"
    application["args"] = {
        "llm_configs": [config],
        "ingress_deployment_config": application["args"]["ingress_deployment_config"],
    }
    return changed
