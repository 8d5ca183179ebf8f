"""A `vllm` to import where vLLM is not installed, so that Ray Serve LLM's own validation runs without a GPU.

Ray takes three things from vLLM before an engine starts: the names of the engine's and the frontend's
arguments, and base classes for the OpenAI request and response models. Those are here, and nothing else: any
other import from `vllm` fails, so a new dependency of Ray's shows as an ImportError rather than as a
validation that quietly checks less.
"""

import dataclasses
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model

_ENGINE_MODULE = "vllm.engine.arg_utils"
_FRONTEND_MODULE = "vllm.entrypoints.openai.cli_args"
_MODELS = {
    "vllm.entrypoints.openai.chat_completion.protocol": (
        "ChatCompletionRequest",
        "ChatCompletionResponse",
        "ChatCompletionStreamResponse",
    ),
    "vllm.entrypoints.openai.completion.protocol": (
        "CompletionRequest",
        "CompletionResponse",
        "CompletionStreamResponse",
    ),
    "vllm.entrypoints.openai.engine.protocol": ("ErrorInfo", "ErrorResponse"),
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

_installed: tuple[tuple[str, ...], tuple[str, ...]] | None = None


class _OpenAIModel(BaseModel):
    """Open, as vLLM's own protocol models are."""

    model_config = ConfigDict(extra="allow", arbitrary_types_allowed=True)


def install(engine_arguments: Sequence[str], frontend_arguments: Sequence[str]) -> None:
    """Make `vllm` importable in this process, with exactly these argument names; a repetition does nothing.

    Raises RuntimeError if that would replace something: a real vLLM, or a stand-in with other names.
    """
    global _installed
    wanted = (tuple(engine_arguments), tuple(frontend_arguments))
    if _installed == wanted:
        return
    if _installed is not None:
        raise RuntimeError("the vLLM stand-in is installed already, with other argument names")
    if importlib.util.find_spec("vllm") is not None:
        raise RuntimeError("vLLM itself is installed; the stand-in would replace it")

    contents: dict[str, dict[str, Any]] = {
        module: {name: create_model(name, __base__=_OpenAIModel, __module__=module) for name in names}
        for module, names in _MODELS.items()
    }
    contents[_ENGINE_MODULE] = {"AsyncEngineArgs": _dataclass("AsyncEngineArgs", engine_arguments)}
    contents[_FRONTEND_MODULE] = {"FrontendArgs": _dataclass("FrontendArgs", frontend_arguments)}
    for name, attributes in contents.items():
        _add_module(name).__dict__.update(attributes)
    _installed = wanted


def _dataclass(name: str, fields: Sequence[str]) -> type[Any]:
    optional = [(field, Any, dataclasses.field(default=None)) for field in fields]
    return dataclasses.make_dataclass(name, optional)


def _add_module(name: str) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name, "Part of the vLLM stand-in.")
    module.__spec__ = ModuleSpec(name, loader=None, is_package=True)
    module.__path__ = []
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(_add_module(parent), child, module)
    return module
