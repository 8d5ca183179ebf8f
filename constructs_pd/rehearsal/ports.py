"""Free TCP ports of the loopback address."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterable
from itertools import islice
from typing import Final

from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.nodes import NODE_ADDRESS

#: Ports that the kernel gives to outgoing connections start above (ip_local_port_range, 32768 by default): one of them
#: could be gone before Ray, which takes seconds to start, listens there.
_FIRST_SINGLE = 10_000
_FIRST, _LAST = 21_000, 32_000
_STEP: Final = 64


def free_ports(count: int) -> list[int]:
    """Return different ports that are free now, none of which free_range returns.

    Raises:
        RehearsalError: There are not so many.
    """
    # Another rehearsal that starts now looks too, and nothing is bound for a while.
    candidates = random.sample(range(_FIRST_SINGLE, _FIRST), _FIRST - _FIRST_SINGLE)
    found = list(islice(filter(is_free, candidates), count))
    if len(found) < count:
        raise RehearsalError(
            f"{len(found)} of {count} TCP ports are free between {_FIRST_SINGLE} and {_FIRST}",
            "end what listens there",
        )
    return found


def free_range(size: int, without: Iterable[range] = ()) -> range:
    """Return ports in a row that are free now, outside of other ranges.

    Raises:
        RehearsalError: There are none.
    """
    step = max(_STEP, size)
    firsts = list(range(_FIRST, _LAST - size, step))
    for first in random.sample(firsts, len(firsts)):
        candidate = range(first, first + size)
        if not any(set(candidate) & set(other) for other in without) and all(is_free(port) for port in candidate):
            return candidate
    raise RehearsalError(
        f"no {size} TCP ports in a row are free between {_FIRST} and {_LAST} for the NIXL handshake",
        "end what listens there",
    )


def is_free(port: int) -> bool:
    """Whether nothing listens on a port, on the loopback address or on all."""
    for host in (NODE_ADDRESS, "0.0.0.0"):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                return False
    return True


def require_free(port: int) -> None:
    """Refuse a port that the user named and something uses.

    Raises:
        RehearsalError: Something listens on it.
    """
    if not is_free(port):
        raise RehearsalError(
            f"port {port} of {NODE_ADDRESS} is in use", "name another with --port, or leave it out for one that is free"
        )
