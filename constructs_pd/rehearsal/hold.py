"""Goes on serving until Ctrl-C, for a client of one's own."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.gateway import LocalGateway
from constructs_pd.rehearsal.gateway_checks import Through
from constructs_pd.rehearsal.local_ray import LocalRay
from constructs_pd.rehearsal.nodes import NODE_ADDRESS
from constructs_pd.rehearsal.supervised import Supervised

_POLL_SECONDS: Final = 1.0


def hold(
    model: str,
    serve_port: int,
    through: Through | None,
    ray: LocalRay,
    supervised: Supervised,
    tell: Callable[[str], None],
) -> None:
    """Say how to reach the endpoint, and serve until Ctrl-C.

    Raises:
        RehearsalError: A Ray node has ended, or the gateway.
    """
    tell(how_to_ask(model, serve_port, through))
    needed = {node.planned.name: node.process for node in ray.nodes.values()}
    if through is not None:
        needed["gateway"] = through.gateway.process
    with suppress(KeyboardInterrupt):
        while not (ended := [name for name, process in needed.items() if not supervised.runs(process)]):
            time.sleep(_POLL_SECONDS)
        raise RehearsalError(
            f"{ended[0]} ended while it served:\n{supervised.last_lines(ended[0])}", "see its log above"
        )


def how_to_ask(model: str, serve_port: int, through: Through | None) -> str:
    """Return what an OpenAI client needs, what can be pasted on a line of its own."""
    port, key = (serve_port, "none") if through is None else (through.gateway.port, through.key)
    keys = "" if through is None else _about_keys(through.gateway)
    return (
        f"it serves {model} until Ctrl-C, then the report follows{keys}\n"
        f"export OPENAI_BASE_URL=http://{NODE_ADDRESS}:{port}/v1 OPENAI_API_KEY={key}"
    )


def _about_keys(gateway: LocalGateway) -> str:
    return f"; {gateway.keys} has its keys, name:digest on each line, and is read every {gateway.reload_seconds} s"
