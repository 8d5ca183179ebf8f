"""A `vllm` to import where vLLM is not installed: what Ray Serve LLM 2.58.0 takes from it, and nothing else.

Ray takes the names of the engine's and the frontend's arguments, base classes of the OpenAI requests and responses,
and `vllm.envs`, where it leaves the port of the NIXL handshake. The modules are made when they are imported, because
most of Ray's processes never import vLLM. Any other import fails as it would without vLLM.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

#: The names of the engine's and the frontend's arguments, separated by commas.
ENGINE_ARGUMENTS_VARIABLE: Final = "CONSTRUCTS_PD_ENGINE_ARGUMENTS"
FRONTEND_ARGUMENTS_VARIABLE: Final = "CONSTRUCTS_PD_FRONTEND_ARGUMENTS"
SIDE_CHANNEL: Final = {"VLLM_NIXL_SIDE_CHANNEL_HOST": str, "VLLM_NIXL_SIDE_CHANNEL_PORT": int}

_OPEN_MODELS: Final = {
    "vllm.entrypoints.openai.chat_completion.protocol": ("ChatCompletionResponse", "ChatCompletionStreamResponse"),
    "vllm.entrypoints.openai.completion.protocol": ("CompletionResponse", "CompletionStreamResponse"),
    "vllm.entrypoints.openai.engine.protocol": ("ErrorInfo",),
    "vllm.entrypoints.pooling.embed.protocol": (
        "EmbeddingChatRequest",
        "EmbeddingCompletionRequest",
        "EmbeddingResponse",
    ),
    "vllm.entrypoints.pooling.scoring.protocol": ("ScoreResponse", "ScoreTextRequest"),
    "vllm.entrypoints.serve.tokenize.protocol": (
        "DetokenizeRequest",
        "DetokenizeResponse",
        "TokenizeChatRequest",
        "TokenizeCompletionRequest",
        "TokenizeResponse",
    ),
    "vllm.entrypoints.speech_to_text.transcription.protocol": (
        "TranscriptionRequest",
        "TranscriptionResponse",
        "TranscriptionStreamResponse",
    ),
}
_REQUESTS: Final = {
    "vllm.entrypoints.openai.chat_completion.protocol": "ChatCompletionRequest",
    "vllm.entrypoints.openai.completion.protocol": "CompletionRequest",
}
_ARGUMENTS: Final = {
    "vllm.engine.arg_utils": ("AsyncEngineArgs", ENGINE_ARGUMENTS_VARIABLE),
    "vllm.entrypoints.openai.cli_args": ("FrontendArgs", FRONTEND_ARGUMENTS_VARIABLE),
}
_ENVS: Final = "vllm.envs"
_MODULES: Final = {*_OPEN_MODELS, *_REQUESTS, *_ARGUMENTS, _ENVS}
_PACKAGES: Final = {module.rsplit(".", count)[0] for module in _MODULES for count in range(1, module.count(".") + 1)}


def install() -> None:
    """Offer the stand-in to this process's imports; a repetition does nothing."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())


class _Finder(MetaPathFinder, Loader):
    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=name in _PACKAGES) if name in _MODULES | _PACKAGES else None

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__.update(contents(module.__name__))


def contents(module: str) -> dict[str, Any]:
    """Return the attributes of a module of the stand-in."""
    if module in _ARGUMENTS:
        name, variable = _ARGUMENTS[module]
        fields = [
            (field, Any, dataclasses.field(default=None)) for field in os.environ.get(variable, "").split(",") if field
        ]
        return {name: dataclasses.make_dataclass(name, fields)}
    if module == _ENVS:
        return {"environment_variables": SIDE_CHANNEL, "is_set": _is_set, "__getattr__": _side_channel}
    if module not in _MODULES:
        return {}
    from constructs_pd.rehearsal.mock import protocol

    found: dict[str, Any] = {name: _open_model(name, module) for name in _OPEN_MODELS.get(module, ())}
    if module in _REQUESTS:
        found[_REQUESTS[module]] = getattr(protocol, _REQUESTS[module])
    if module.endswith("openai.engine.protocol"):
        found["ErrorResponse"] = protocol.ErrorResponse
        found["ErrorInfo"] = protocol.ErrorInfo
    return found


def _open_model(name: str, module: str) -> type[Any]:
    from pydantic import create_model

    from constructs_pd.rehearsal.mock.protocol import OpenModel

    return create_model(name, __base__=OpenModel, __module__=module)


def _is_set(name: str) -> bool:
    return name in os.environ


def _side_channel(name: str) -> Any:
    if name not in SIDE_CHANNEL:
        raise AttributeError(name)
    read: Callable[[str], Any] = SIDE_CHANNEL[name]
    return read(os.environ[name])
