"""The mock engine, as Ray Serve LLM calls an engine: `RAYLLM_VLLM_ENGINE_CLS` names this class.

Ray's ingress, routing, prefill/decode orchestration and choice of the NIXL ports are the real ones. The engine
honours max_tokens, stop, stream, usage, n, temperature and seed; it knows no tools, no logprobs and no end token.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
import uuid
from collections.abc import AsyncIterator
from typing import Any, Final

from constructs_pd.rehearsal.mock.counters import Counters, RayCounters
from constructs_pd.rehearsal.mock.hand_over import HandOverError, Offer, fetch
from constructs_pd.rehearsal.mock.protocol import (
    ChatCompletionRequest,
    CompletionRequest,
    ErrorInfo,
    ErrorResponse,
)
from constructs_pd.rehearsal.mock.tiny_engine import kv_cache, next_token, tokens_of

Request = ChatCompletionRequest | CompletionRequest

# A part of Serve's, so that its lines stand in the replica's log.
_LOGGER: Final = logging.getLogger("ray.serve.mock")

_PRODUCERS: Final = {"kv_producer", "kv_both"}
_CONSUMERS: Final = {"kv_consumer", "kv_both"}
DEFAULT_CONTEXT_TOKENS: Final = 4096
#: Refused, so that nobody takes what the mock says for an answer to it.
NOT_OFFERED: Final = ("logprobs", "tools", "response_format")


class RefusedRequestError(Exception):
    """A request that vLLM would answer with 400."""


class MockEngine:
    """One engine.

    Args:
        llm_config: Ray Serve LLM's configuration of it.
        counters: Where it counts its work; by default in Ray's metrics, under vLLM's names.
    """

    def __init__(self, llm_config: Any, counters: Counters | None = None) -> None:
        self._config = llm_config
        self._model = str(llm_config.model_loading_config.model_source)
        arguments = llm_config.engine_kwargs
        if arguments.get("load_format") == "dummy":  # random weights, to vLLM
            self._model = uuid.uuid4().hex
        self._context_tokens: int = arguments.get("max_model_len") or DEFAULT_CONTEXT_TOKENS
        self._ranks: int = arguments.get("tensor_parallel_size", 1)
        self._counters = counters
        self._offer: Offer | None = None
        self._running = 0

    @property
    def _transfer(self) -> dict[str, Any]:
        return self._config.engine_kwargs.get("kv_transfer_config") or {}

    async def start(self) -> None:
        """Start what serves the KV cache, where the engine has one to hand over."""
        self._counters = self._counters or RayCounters(self._config.model_id)
        self._config.setup_engine_backend()
        if self._transfer:
            host, port = os.environ["VLLM_NIXL_SIDE_CHANNEL_HOST"], int(os.environ["VLLM_NIXL_SIDE_CHANNEL_PORT"])
            self._offer = Offer(self._transfer["engine_id"], host, port, self._ranks)
            await self._offer.start()

    async def shutdown(self) -> None:
        """Close the ports."""
        if self._offer is not None:
            await self._offer.stop()

    async def check_health(self) -> None:
        """Be healthy."""

    async def reset_prefix_cache(self) -> None:
        """Have none."""

    async def resolve_lora(self, lora_model: Any) -> None:
        """Have none."""

    def routing_stats(self) -> dict[str, Any]:
        """Return nothing that routing could use."""
        return {}

    async def chat(self, request: Any, raw_request_info: Any = None) -> AsyncIterator[Any]:
        """Answer a chat."""
        text = "".join(f"{message['role']}\n{_text(message.get('content'))}\n" for message in request.messages)
        limit = request.max_completion_tokens or request.max_tokens
        async for part in self._answered(request, tokens_of(text + "assistant\n"), limit, "chat"):
            yield part

    async def completions(self, request: Any, raw_request_info: Any = None) -> AsyncIterator[Any]:
        """Continue a prompt."""
        tokens = tokens_of(request.prompt) if isinstance(request.prompt, str) else list(request.prompt)
        async for part in self._answered(request, tokens, request.max_tokens, "text"):
            yield part

    async def _answered(self, request: Request, tokens: list[int], limit: int | None, kind: str) -> AsyncIterator[Any]:
        assert self._counters is not None
        self._running += 1
        self._counters.running(self._running)
        try:
            async for part in self._answer(request, tokens, limit, kind):
                yield part
        except RefusedRequestError as error:
            yield _error(str(error), "BadRequestError", 400)
        except HandOverError as error:
            yield _error(str(error), "InternalServerError", 500)
        finally:
            self._running -= 1
            self._counters.running(self._running)

    async def _answer(self, request: Request, tokens: list[int], limit: int | None, kind: str) -> AsyncIterator[Any]:
        if len(tokens) + (limit or 1) > self._context_tokens:
            raise RefusedRequestError(
                f"This model's maximum context length is {self._context_tokens} tokens. However, you requested "
                f"{limit or 1} output tokens and your prompt contains {len(tokens)} input tokens."
            )
        for name in NOT_OFFERED:
            if (request.model_extra or {}).get(name):
                raise RefusedRequestError(f"the mock engine has no {name}")
        begun = time.monotonic()
        if self._config.engine_kwargs.get("enable_log_requests"):
            _LOGGER.info("Added request %s.", _id_of(request, kind))  # as vLLM does
        cache = await self._cache(request, tokens)
        first = time.monotonic()
        limit = limit or self._context_tokens - len(tokens)
        answers = [self._said(request, cache, limit, index) for index in range(request.n or 1)]
        produced = sum(len(text) for text, _ in answers)
        assert self._counters is not None
        self._counters.generated(produced)
        each = (time.monotonic() - first) / max(produced, 1)
        self._counters.answered(first - begun, [each] * (produced - 1))
        shape = _Shape(request, kind, self._config.model_id, len(tokens), produced)
        if request.stream:
            async for line in shape.stream(answers, request.mock_pause_seconds):
                yield line
            return
        params = request.kv_transfer_params or {}
        held = None
        if params.get("do_remote_decode"):
            assert self._offer is not None
            held = self._offer.hold(request.request_id or uuid.uuid4().hex, cache)
        yield shape.whole(answers, held)

    async def _cache(self, request: Request, tokens: list[int]) -> bytes:
        """Return the prompt's cache: from the prefill engine where the request says so, else computed here."""
        assert self._counters is not None
        params, role = request.kv_transfer_params or {}, self._transfer.get("kv_role")
        if params.get("do_remote_prefill"):
            if role not in _CONSUMERS:
                raise HandOverError(f"this engine's kv_role is {role}: it fetches no KV cache")
            begun = time.monotonic()
            cache = await fetch(params)
            self._counters.prefilled(len(tokens), "external_kv_transfer")
            self._counters.transferred(len(cache), time.monotonic() - begun)
            return cache
        if params.get("do_remote_decode") and role not in _PRODUCERS:
            raise HandOverError(f"this engine's kv_role is {role}: it hands no KV cache over")
        self._counters.prefilled(len(tokens), "local_compute")
        return kv_cache(self._model, tokens)

    def _said(self, request: Request, cache: bytes, limit: int, index: int) -> tuple[str, str]:
        """Return an answer's text and why it ends."""
        salt = f"{request.seed if request.seed is not None else uuid.uuid4()}-{index}" if request.temperature else ""
        text = ""
        for _ in range(limit):
            token = next_token(self._model, cache, salt)
            cache = kv_cache(self._model, [token], cache)
            text += chr(token)
            for stop in request.stop_sequences:
                if stop and text.endswith(stop):
                    return text.removesuffix(stop), "stop"
        return text, "length"


class _Shape:
    """An answer in OpenAI's form."""

    def __init__(self, request: Request, kind: str, model: str, prompt_tokens: int, produced: int) -> None:
        self._is_chat = kind == "chat"
        self._include_usage = bool(request.stream_options and request.stream_options.include_usage)
        self._common = {
            "id": _id_of(request, kind),
            "created": int(time.time()),
            "model": model,
        }
        self._usage = {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": produced,
            "total_tokens": prompt_tokens + produced,
        }

    def whole(self, answers: list[tuple[str, str]], held: dict[str, Any] | None) -> Any:
        """Return the answer at once, as an object of Ray's class for it."""
        from ray.llm._internal.serve.core.configs import openai_api_models

        choices = [
            {"index": index, "finish_reason": reason, "logprobs": None, **self._content(text)}
            for index, (text, reason) in enumerate(answers)
        ]
        name = "ChatCompletionResponse" if self._is_chat else "CompletionResponse"
        fields = {
            **self._common,
            "object": "chat.completion" if self._is_chat else "text_completion",
            "choices": choices,
            "usage": self._usage,
            "kv_transfer_params": held,
        }
        return getattr(openai_api_models, name)(**fields)

    def _content(self, text: str) -> dict[str, Any]:
        return {"message": {"role": "assistant", "content": text}} if self._is_chat else {"text": text}

    async def stream(self, answers: list[tuple[str, str]], pause_seconds: float) -> AsyncIterator[str]:
        """Yield the answer's lines as server-sent events, a token each, after a pause."""
        for index, (text, reason) in enumerate(answers):
            if self._is_chat:
                yield self._event([self._choice(index, {"delta": {"role": "assistant", "content": ""}})])
            for character in text:
                delta = {"delta": {"content": character}} if self._is_chat else {"text": character}
                await asyncio.sleep(pause_seconds)
                yield self._event([self._choice(index, delta)])
            last: dict[str, Any] = {"delta": {}} if self._is_chat else {"text": ""}
            yield self._event([self._choice(index, last, reason)])
        if self._include_usage:
            yield self._event([], usage=self._usage)
        yield "data: [DONE]\n\n"

    def _choice(self, index: int, content: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {"index": index, "finish_reason": reason, "logprobs": None, **content}

    def _event(self, choices: list[dict[str, Any]], **more: Any) -> str:
        kind = "chat.completion.chunk" if self._is_chat else "text_completion"
        return f"data: {json.dumps({**self._common, 'object': kind, 'choices': choices, **more})}\n\n"


def _id_of(request: Request, kind: str) -> str:
    return ("chatcmpl-" if kind == "chat" else "cmpl-") + (request.request_id or uuid.uuid4().hex)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def _error(message: str, kind: str, code: int) -> Any:
    from ray.llm._internal.serve.core.configs import openai_api_models

    info = ErrorInfo(message=message, type=kind, code=code).model_dump()
    response: type[ErrorResponse] = openai_api_models.ErrorResponse
    return response(error=info)  # type: ignore[arg-type]
