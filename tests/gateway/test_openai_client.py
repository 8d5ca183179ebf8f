"""OpenAI's own client, pointed at the gateway."""

from __future__ import annotations

import openai
import pytest

from support.gateway import KEY, UNKNOWN_KEY, RunningGateway, running_gateway
from support.serve_stub import ServeStub

MESSAGES: list[openai.types.chat.ChatCompletionMessageParam] = [{"role": "user", "content": "hello"}]


def client(gateway: RunningGateway, key: str = KEY) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{gateway.url}/v1", api_key=key, max_retries=0)


def test_it_asks_and_is_answered(gateway: RunningGateway) -> None:
    answer = client(gateway).chat.completions.create(model="stub", messages=MESSAGES)
    assert answer.choices[0].message.content == "hello"
    assert answer._request_id == gateway.log()[-1]["request_id"]


def test_it_streams(gateway: RunningGateway) -> None:
    stream = client(gateway).chat.completions.create(model="stub", messages=MESSAGES, stream=True)
    assert [chunk.choices[0].delta.content for chunk in stream] == ["0", "1", "2"]


def test_it_understands_that_its_key_is_wrong(gateway: RunningGateway) -> None:
    with pytest.raises(openai.AuthenticationError, match="The API key is missing or not in force") as error:
        client(gateway, UNKNOWN_KEY).chat.completions.create(model="stub", messages=MESSAGES)
    assert (error.value.code, error.value.status_code) == ("invalid_api_key", 401)
    assert error.value.request_id is not None


def test_it_understands_that_it_asks_too_much(stub: ServeStub, tmp_path_factory: pytest.TempPathFactory) -> None:
    with running_gateway(tmp_path_factory.mktemp("limited"), stub.address, requests_per_minute=1) as gateway:
        asking = client(gateway)
        asking.chat.completions.create(model="stub", messages=MESSAGES)
        with pytest.raises(openai.RateLimitError, match="Too many requests in a minute") as error:
            asking.chat.completions.create(model="stub", messages=MESSAGES)
        assert error.value.code == "rate_limit_exceeded"


def test_it_understands_that_its_request_is_too_large(gateway: RunningGateway) -> None:
    with pytest.raises(openai.APIStatusError, match="The request body is too large") as error:
        client(gateway).chat.completions.create(model="stub", messages=[{"role": "user", "content": "a" * 100_000}])
    assert error.value.status_code == 413
