"""One request, followed from the real gateway over the real Ray Serve to the mock engines of both phases."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.gateway import CLIENT, GATEWAY, KEY, PATH, RunningGateway, bearer, running_gateway, wait_for
from support.otlp_receiver import OtlpReceiver, ReceivedSpan, receiving_by_grpc
from support.rehearsal_stage import Stage, stage_of
from support.specs import ROOT, plan_with

PAGE = (ROOT / "docs" / "tracing.md").read_text(encoding="utf-8")
POD_LOGS = "/tmp/ray/session_latest/logs"
SECONDS = 60.0
ENGINES = ("llm_Prefill:qwen3_5-9b", "llm_Decode:qwen3_5-9b")


@pytest.fixture(scope="module")
def receiver() -> Iterator[OtlpReceiver]:
    with receiving_by_grpc() as running:
        yield running


@pytest.fixture(scope="module")
def stage(receiver: OtlpReceiver) -> Iterator[Stage]:
    changes = {
        "endpoint.gateway": GATEWAY,
        "tracing": {"otlp_endpoint": f"http://127.0.0.1:{receiver.port}", "sample_ratio": 1},
        "logs": {"encoding": "json", "requests": True},
    }
    with stage_of(plan_with(changes)) as running:
        running.deploy()
        yield running


@pytest.fixture(scope="module")
def gateway(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    planned = stage.plan.endpoint.gateway
    assert planned is not None
    with running_gateway(
        tmp_path_factory.mktemp("gateway"),
        f"127.0.0.1:{stage.port}",
        requests_per_minute=100_000,
        sampled_per_million=planned.sampled_per_million,
    ) as running:
        wait_for(lambda: asked(running).status_code == 200, SECONDS)
        yield running


def asked(gateway: RunningGateway, **headers: str) -> httpx.Response:
    body = {"model": "qwen3.5-9b", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 4}
    return CLIENT.post(f"{gateway.url}{PATH}", json=body, headers={**bearer(KEY), **headers})


def in_time(look: Callable[[], Any]) -> Any:
    """Return what is found as soon as something is."""
    deadline = time.monotonic() + SECONDS
    while not (found := look()) and time.monotonic() < deadline:
        time.sleep(0.5)
    return found


def lines_of(pod: Path, request_id: str) -> list[dict[str, Any]]:
    """Return a pod's lines about a request, by the command of the page."""
    (command,) = re.findall(rf'"(grep .* {POD_LOGS})"\n', PAGE)
    local = command.replace("'$id'", f"'{request_id}'").replace(POD_LOGS, str(pod / "session_latest" / "logs"))
    found = subprocess.run(["sh", "-c", local], capture_output=True, text=True, check=False)
    assert found.stderr == ""
    # The rest is Serve's copy on standard error, as text.
    return [json.loads(line) for line in found.stdout.splitlines() if line.startswith("{")]


def test_one_id_in_every_log(stage: Stage, gateway: RunningGateway) -> None:
    answer = asked(gateway)
    request_id = answer.headers["x-request-id"]
    assert answer.json()["id"] == f"chatcmpl-{request_id}"
    assert [line["status"] for line in gateway.log() if line["request_id"] == request_id] == [200]

    def everywhere() -> dict[str, set[str]]:
        logs: dict[str, set[str]] = {"proxy": set()}
        for pod in ("head", "prefill-0", "decode-0"):
            for line in lines_of(stage.supervised.folder / pod, request_id):
                assert line["request_id"] == request_id
                component = line["component_name"] if line["component_name"] == "proxy" else line["deployment"]
                logs.setdefault(component, set()).add(re.sub(r"\d+\.\d+ms", "ms", line["message"]))
        return logs if {"llm_OpenAiIngress", *ENGINES} <= set(logs) and logs["proxy"] else {}

    found = in_time(everywhere)
    assert found, "not all have logged it"
    assert "POST /v1/chat/completions 200 ms" in found["proxy"] & found["llm_OpenAiIngress"]
    for engine in ENGINES:
        assert found[engine] >= {"CALL chat OK ms", f"Added request chatcmpl-{request_id}."}


# Each below the one before it.
CHAIN = (
    "proxy_http_request OpenAiIngress POST /v1/chat/completions",
    "route_to_replica OpenAiIngress __call__",
    "replica_handle_request OpenAiIngress __call__",
    "route_to_replica Decode:qwen3_5-9b chat",
    "replica_handle_request Decode:qwen3_5-9b chat",
    "route_to_replica Prefill:qwen3_5-9b chat",
    "replica_handle_request Prefill:qwen3_5-9b chat",
)


def whole_trace(receiver: OtlpReceiver, trace: str) -> list[ReceivedSpan]:
    """Return the spans of a trace, by their names in the order of CHAIN."""
    spans = in_time(lambda: len(found := receiver.spans(trace)) >= len(CHAIN) and found)
    return sorted(spans or receiver.spans(trace), key=lambda span: CHAIN.index(span.name))


def test_its_trace_is_found_by_the_id(receiver: OtlpReceiver, gateway: RunningGateway) -> None:
    request_id = asked(gateway).headers["x-request-id"]
    spans = whole_trace(receiver, request_id.replace("-", ""))
    assert tuple(span.name for span in spans) == CHAIN
    assert [span.parent for span in spans[1:]] == [span.span for span in spans[:-1]]
    assert {span.attributes["request_id"] for span in spans} == {request_id}
    assert [span.service for span in spans[2:]] == ["qwen35-9b-decode"] * 4 + ["qwen35-9b-prefill"]
    assert spans[0].attributes["http.status_code"] == 200
    assert spans[-1].attributes["deployment"] == "Prefill:qwen3_5-9b"


def test_a_clients_decision_holds_at_every_step(receiver: OtlpReceiver, gateway: RunningGateway) -> None:
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    silent = asked(gateway, traceparent=f"00-{trace[::-1]}-{parent}-00").headers["x-request-id"]
    asked(gateway, traceparent=f"00-{trace}-{parent}-01")
    spans = whole_trace(receiver, trace)
    assert tuple(span.name for span in spans) == CHAIN
    assert spans[0].parent == parent
    time.sleep(6)  # a batch is sent every 5 seconds
    assert [span for span in receiver.spans() if span.attributes.get("request_id") == silent] == []
