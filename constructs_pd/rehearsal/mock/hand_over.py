"""How the mock's KV cache gets from prefill to decode: over TCP, from the ports of the NIXL handshake.

Each tensor-parallel rank serves its shard at the side channel's port plus its rank, as NIXL's connector does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from constructs_pd.rehearsal.mock.tiny_engine import joined, shards


class HandOverError(Exception):
    """A cache cannot be handed over."""


class Offer:
    """The caches that a prefill engine holds for decode engines, until each is fetched."""

    def __init__(self, engine_id: str, host: str, port: int, ranks: int) -> None:
        self._engine_id, self._host, self._port, self._ranks = engine_id, host, port, ranks
        self._held: dict[str, list[bytes | None]] = {}
        self._servers: list[asyncio.Server] = []

    async def start(self) -> None:
        """Listen, one port a rank."""
        for rank in range(self._ranks):
            serve = self._server(rank)
            self._servers.append(await asyncio.start_server(serve, self._host, self._port + rank))

    async def stop(self) -> None:
        """Listen no more."""
        for server in self._servers:
            server.close()
            with suppress(asyncio.CancelledError):
                await server.wait_closed()

    def hold(self, request_id: str, cache: bytes) -> dict[str, Any]:
        """Keep a cache, and return what the decode engine must know to fetch it."""
        self._held[request_id] = list(shards(cache, self._ranks))
        return {
            "do_remote_prefill": True,
            "do_remote_decode": False,
            "remote_engine_id": self._engine_id,
            "remote_request_id": request_id,
            "remote_host": self._host,
            "remote_port": self._port,
            "tp_size": self._ranks,
        }

    def _server(self, rank: int) -> Any:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            engine_id, _, request_id = (await reader.readline()).decode().strip().partition(" ")
            parts = self._held.get(request_id) if engine_id == self._engine_id else None
            if parts is not None:
                writer.write(parts[rank] or b"")
                parts[rank] = None
                if not any(parts):
                    del self._held[request_id]
            writer.close()
            await writer.wait_closed()

        return answer


async def fetch(params: Mapping[str, Any]) -> bytes:
    """Return the cache that a prefill engine's answer points to.

    Raises:
        HandOverError: The prefill engine cannot be reached, or has no such cache.
    """
    engine_id, request_id = params["remote_engine_id"], params["remote_request_id"]
    parts = []
    for rank in range(params["tp_size"]):
        address = params["remote_host"], params["remote_port"] + rank
        try:
            reader, writer = await asyncio.open_connection(*address)
        except OSError as error:
            raise HandOverError(f"no KV cache from {address[0]}:{address[1]}: {error}") from None
        writer.write(f"{engine_id} {request_id}\n".encode())
        parts.append(await reader.read())
        writer.close()
    if not all(parts) or len({len(part) for part in parts}) > 1:
        raise HandOverError(f"engine {engine_id} holds no KV cache of request {request_id}")
    return joined(parts)
