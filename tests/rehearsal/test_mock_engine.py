"""The mock engine honours requests, and says something else when the KV cache is not the prompt's."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Coroutine
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from constructs_pd.rehearsal.mock.engine import MockEngine
from constructs_pd.rehearsal.mock.hand_over import HandOverError, fetch
from constructs_pd.rehearsal.mock.protocol import ChatCompletionRequest, CompletionRequest
from constructs_pd.rehearsal.mock.tiny_engine import joined, kv_cache, next_token, shards
from constructs_pd.rehearsal.ports import free_range
from readers.ray_session import ray_session

PROMPT = list(range(10, 300))
TAKEN: list[range] = []


@dataclass
class Counted:
    prompt: dict[str, int] = field(default_factory=dict)
    size_bytes: int = 0
    tokens: int = 0
    gaps: int = 0
    requests: list[int] = field(default_factory=list)

    def prefilled(self, tokens: int, source: str) -> None:
        self.prompt[source] = self.prompt.get(source, 0) + tokens

    def transferred(self, size_bytes: int, seconds: float) -> None:
        self.size_bytes += size_bytes

    def generated(self, tokens: int) -> None:
        self.tokens += tokens

    def answered(self, first_token_seconds: float, between_seconds: list[float]) -> None:
        self.gaps += len(between_seconds)

    def running(self, requests: int) -> None:
        self.requests.append(requests)


@dataclass
class Config:
    """What the engine reads of Ray's LLMConfig."""

    engine_kwargs: dict[str, Any]
    source: str = "acme/own-7b"
    model_id: str = "own"

    @property
    def model_loading_config(self) -> Any:
        return SimpleNamespace(model_source=self.source)

    def setup_engine_backend(self) -> None:
        """Do as Ray's NixlConnectorBackend does."""
        if transfer := self.engine_kwargs.get("kv_transfer_config"):
            os.environ["VLLM_NIXL_SIDE_CHANNEL_HOST"] = "127.0.0.1"
            os.environ["VLLM_NIXL_SIDE_CHANNEL_PORT"] = str(self.engine_kwargs["test_port"])
            transfer["engine_id"] = f"engine-{self.engine_kwargs['test_port']}"


def engine(role: str | None = None, source: str = "acme/own-7b", **arguments: Any) -> tuple[MockEngine, Counted]:
    ranks = arguments.get("tensor_parallel_size", 1)
    transfer: dict[str, Any] = {}
    if role:
        TAKEN.append(free_range(ranks, TAKEN))
        transfer = {"kv_transfer_config": {"kv_role": role}, "test_port": TAKEN[-1].start}
    counted = Counted()
    return MockEngine(Config({**arguments, **transfer}, source), counted), counted


def run(work: Coroutine[Any, Any, Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    for name in ("VLLM_NIXL_SIDE_CHANNEL_HOST", "VLLM_NIXL_SIDE_CHANNEL_PORT"):
        monkeypatch.setenv(name, "")
    with ray_session():
        return asyncio.run(work)


async def answer(one: MockEngine, **fields: Any) -> Any:
    request = CompletionRequest(prompt=PROMPT, **{"max_tokens": 12, "temperature": 0, **fields})
    parts = [part async for part in one.completions(request)]
    return parts if request.stream else parts[0]


async def handed_over(prefill: MockEngine, decode: MockEngine, **fields: Any) -> Any:
    await prefill.start()
    await decode.start()
    try:
        first = await answer(prefill, max_tokens=1, request_id="r", kv_transfer_params={"do_remote_decode": True})
        params = getattr(first, "kv_transfer_params", None)
        return first if params is None else await answer(decode, request_id="r", kv_transfer_params=params, **fields)
    finally:
        await prefill.shutdown()
        await decode.shutdown()


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_a_cache_in_shards_is_the_same_cache(ranks: int) -> None:
    cache = kv_cache("m", PROMPT)
    parts = shards(cache, ranks)
    assert joined(parts) == cache
    assert {len(part) for part in parts} == {len(cache) // ranks}


def test_every_byte_of_the_cache_counts() -> None:
    cache = kv_cache("m", PROMPT)
    damaged = [cache[:place] + bytes([cache[place] ^ 1]) + cache[place + 1 :] for place in range(0, len(cache), 997)]
    said = [next_token("m", each) for each in damaged]
    assert sum(token != next_token("m", cache) for token in said) > len(said) * 0.8
    assert kv_cache("m", PROMPT[:5]) + b"" == kv_cache("m", PROMPT[3:5], kv_cache("m", PROMPT[:3]))
    assert kv_cache("m", PROMPT) != kv_cache("other", PROMPT)


@pytest.mark.parametrize("ranks", [1, 2])
def test_decode_continues_from_prefills_cache_as_one_engine_does(ranks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    (prefill, produced), (decode, consumed) = (
        engine(role, tensor_parallel_size=ranks) for role in ("kv_producer", "kv_consumer")
    )
    ours = run(handed_over(prefill, decode), monkeypatch)
    plain, _ = engine()
    theirs = run(answer(plain), monkeypatch)
    assert ours.choices[0]["text"] == theirs.choices[0]["text"]
    assert ours.usage == {"prompt_tokens": 290, "completion_tokens": 12, "total_tokens": 302}
    assert (produced.prompt, produced.tokens) == ({"local_compute": 290}, 1)
    assert (consumed.prompt, consumed.tokens) == ({"external_kv_transfer": 290}, 12)
    assert consumed.size_bytes == 290 * 64


@pytest.mark.parametrize("other", [{"source": "acme/other"}, {"load_format": "dummy"}])
def test_other_weights_say_something_else(other: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    (prefill, _), (decode, _) = engine("kv_producer"), engine("kv_consumer", **other)
    ours = run(handed_over(prefill, decode), monkeypatch)
    plain, _ = engine()
    assert ours.choices[0]["text"] != run(answer(plain), monkeypatch).choices[0]["text"]


@pytest.mark.parametrize(
    ("roles", "fault"),
    [
        (("kv_consumer", "kv_producer"), "kv_role is kv_consumer: it hands no KV cache over"),
        (("kv_producer", "kv_producer"), "kv_role is kv_producer: it fetches no KV cache"),
    ],
)
def test_a_wrong_role_is_an_error(roles: tuple[str, str], fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (prefill, _), (decode, _) = (engine(role) for role in roles)
    refused = run(handed_over(prefill, decode), monkeypatch)
    assert fault in error_of(refused)["message"]
    assert error_of(refused)["code"] == 500


def error_of(response: Any) -> Any:
    error = response.error
    return error if isinstance(error, dict) else error.model_dump()


def test_a_cache_is_handed_over_once_and_only_by_its_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    prefill, _ = engine("kv_producer")

    async def twice() -> None:
        await prefill.start()
        first = await answer(prefill, request_id="r", kv_transfer_params={"do_remote_decode": True})
        params = first.kv_transfer_params
        with pytest.raises(HandOverError, match="holds no KV cache"):
            await fetch({**params, "remote_engine_id": "another"})
        assert len(await fetch(params)) == 290 * 64
        with pytest.raises(HandOverError, match="holds no KV cache"):
            await fetch(params)
        await prefill.shutdown()
        with pytest.raises(HandOverError, match="no KV cache from"):
            await fetch(params)

    run(twice(), monkeypatch)


def test_a_stop_sequence_ends_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, _ = engine()
    text = run(answer(plain), monkeypatch).choices[0]["text"]
    stopped = run(answer(plain, stop=[text[4:6], "never"]), monkeypatch).choices[0]
    assert (stopped["text"], stopped["finish_reason"]) == (text[: text.index(text[4:6])], "stop")


@pytest.mark.parametrize("usage", [False, True])
def test_a_stream_says_the_same(usage: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, _ = engine()
    text = run(answer(plain), monkeypatch).choices[0]["text"]
    lines = run(answer(plain, stream=True, stream_options={"include_usage": usage}), monkeypatch)
    assert lines[-1] == "data: [DONE]\n\n"
    events = [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]
    assert "".join(event["choices"][0]["text"] for event in events if event["choices"]) == text
    assert [event["usage"]["completion_tokens"] for event in events if not event["choices"]] == [12] * usage


def test_a_chat_has_messages_and_a_role(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, _ = engine()

    async def chat(**fields: Any) -> Any:
        messages = [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]
        request = ChatCompletionRequest(messages=messages, temperature=0, **fields)
        return [part async for part in plain.chat(request)]

    (whole,) = run(chat(max_completion_tokens=5, n=2), monkeypatch)
    assert len({choice["message"]["content"] for choice in whole.choices}) == 1
    assert whole.usage["completion_tokens"] == 10
    lines = run(chat(max_tokens=5, stream=True), monkeypatch)
    assert '"role": "assistant"' in lines[0]
    assert len(lines) == 1 + 5 + 1 + 1


def test_sampling_varies_unless_it_is_seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, _ = engine()

    def said(**fields: Any) -> str:
        text: str = run(answer(plain, temperature=1.0, **fields), monkeypatch).choices[0]["text"]
        return text

    assert said(seed=1) == said(seed=1) != said(seed=2)
    assert said() != said()


@pytest.mark.parametrize("name", ["logprobs", "tools", "response_format"])
def test_what_it_cannot_do_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, _ = engine()
    refused = error_of(run(answer(plain, **{name: ["x"]}), monkeypatch))
    assert (refused["code"], refused["message"]) == (400, f"the mock engine has no {name}")


def test_a_prompt_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, _ = engine(max_model_len=300)
    refused = error_of(run(answer(plain), monkeypatch))
    assert refused["code"] == 400
    assert "maximum context length is 300 tokens" in refused["message"]
