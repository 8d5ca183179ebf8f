"""The configuration of the gateway's HAProxy 2.8, as text.

Everything that it relies on stands in HAProxy 2.8's configuration manual (docs.haproxy.org/2.8, read 2026-11-30), and
tests/gateway runs it in the real binary.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import Final

from constructs_pd.manifests.gateway_errors import (
    NO_KEY,
    NO_LENGTH,
    NO_SUCH_METHOD,
    NOT_SERVED,
    OF_THE_PROXY,
    TOO_LARGE,
    TOO_MANY_AT_ONCE,
    TOO_MANY_REQUESTS,
    GatewayError,
)
from constructs_pd.planning.gateway_plan import GatewayPlan

CONFIG_FILE: Final = "haproxy.cfg"
KEYS_SCRIPT: Final = "keys.lua"
# HAProxy wants the file of a map when it starts; the script fills the map in memory.
MAP_FILE: Final = "keys.map"
_EMPTY_MAP: Final = "# filled in memory, from the Secret\n"
# As many names as a Secret of 1 MiB can hold, and more.
_MOST_NAMES: Final = 20_000
_PROBE_CONNECTIONS: Final = 50
# A connection of a client and one to Serve; listeners, checks, name servers and the log.
_FILES_PER_CONNECTION: Final = 2
_OTHER_FILES: Final = 200
_TRACE_IN_LOG: Final = '"trace_id":"%[var(txn.trace),field(2,-)]",'


@dataclass(frozen=True, slots=True)
class GatewayPlace:
    """Where a gateway runs: in its pod, or on one machine for a test.

    Attributes:
        folder: Absolute path of the folder with its files.
        keys: Absolute path of the file with names and digests of the keys.
        listens_on: Address that it listens on for clients.
        health_on: Address that it listens on for probes.
        serve: Address of Ray Serve, host:port.
    """

    folder: str
    keys: str
    listens_on: str
    health_on: str
    serve: str


def in_the_pod(gateway: GatewayPlan) -> GatewayPlace:
    """Return the place of the gateway in its own pod."""
    return GatewayPlace(
        folder="/etc/gateway",
        keys=f"/etc/gateway-keys/{gateway.api_keys.key}",
        listens_on=f"*:{gateway.container_port}",
        health_on=f"*:{gateway.health_port}",
        serve=f"{gateway.serve_host}:{gateway.serve_port}",
    )


def gateway_files(gateway: GatewayPlan, place: GatewayPlace) -> dict[str, str]:
    """Return the files of its folder by name."""
    return {
        CONFIG_FILE: gateway_config(gateway, place),
        KEYS_SCRIPT: _text("gateway_keys.lua"),
        MAP_FILE: _EMPTY_MAP,
    }


def gateway_config(gateway: GatewayPlan, place: GatewayPlace) -> str:
    """Return the configuration."""
    limits = {
        "threads": gateway.cpu_limit_cores,
        "connections": gateway.max_connections,
        "probes": _PROBE_CONNECTIONS,
        "all_connections": gateway.max_connections + _PROBE_CONNECTIONS,
        "files": gateway.max_connections * _FILES_PER_CONNECTION + _OTHER_FILES,
        "at_once": gateway.concurrent_requests,
        "per_minute": gateway.requests_per_minute,
        "retry_after": gateway.retry_after_seconds,
        "body": gateway.max_body_bytes,
        "names": _MOST_NAMES,
    }
    seconds = {
        "reload": gateway.reload_seconds,
        "head": gateway.header_seconds,
        "connect": gateway.connect_seconds,
        "silence": gateway.silence_seconds,
        "check": gateway.check_seconds,
        "hard_stop": gateway.hard_stop_seconds,
    }
    answers = {
        "no_key": NO_KEY,
        "too_many_requests": TOO_MANY_REQUESTS,
        "too_many_at_once": TOO_MANY_AT_ONCE,
        "not_served": NOT_SERVED,
        "no_such_method": NO_SUCH_METHOD,
        "no_length": NO_LENGTH,
        "too_large": TOO_LARGE,
    }
    per_million = gateway.sampled_per_million
    traces = "" if per_million is None else Template(_text("gateway_traces.cfg")).substitute(per_million=per_million)
    return Template(_text("gateway_haproxy.cfg")).substitute(
        limits,
        **seconds,
        **{name: _answer(answer) for name, answer in answers.items()},
        traces=traces,
        trace_in_log="" if per_million is None else _TRACE_IN_LOG,
        errors="\n".join(f"  http-error {_answer(error)}" for error in OF_THE_PROXY),
        folder=place.folder,
        script=KEYS_SCRIPT,
        map=MAP_FILE,
        keys=place.keys,
        listens_on=place.listens_on,
        health_on=place.health_on,
        health=gateway.health_path,
        serve=place.serve,
        serve_host=gateway.serve_host,
    )


def _answer(error: GatewayError) -> str:
    return f"status {error.status} content-type application/json string '{error.body}'"


def _text(name: str) -> str:
    return files("constructs_pd.manifests").joinpath(name).read_text(encoding="utf-8")
