"""Goes on serving until Ctrl-C, for a client of one's own."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from constructs_pd.rehearsal.errors import RehearsalError
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
        RehearsalError: A Ray node has ended.
    """
    for line in how_to_ask(model, serve_port, through):
        tell(line)
    while all(supervised.runs(node.process) for node in ray.nodes.values()):
        time.sleep(_POLL_SECONDS)
    raise RehearsalError("a Ray node ended while it served", "see its log")


def how_to_ask(model: str, serve_port: int, through: Through | None) -> list[str]:
    """Return what an OpenAI client needs, a line each."""
    port, key = (serve_port, "none") if through is None else (through.gateway.port, through.key)
    lines = [
        f"it serves {model} until Ctrl-C",
        f"export OPENAI_BASE_URL=http://{NODE_ADDRESS}:{port}/v1 OPENAI_API_KEY={key}",
    ]
    if through is not None:
        lines.append(f"its keys are in {through.gateway.keys}, which is read every {through.gateway.reload_seconds} s")
    return lines
