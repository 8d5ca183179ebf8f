"""A name server on 127.0.0.1 that knows one host, or does not know it yet."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

_A: Final = 1
_NO_SUCH_NAME: Final = 3
_RESPONSE: Final = 0x8580
_HEADER: Final = struct.Struct("!6H")
# A pointer to the question's name, type A, class IN, valid for 1 s, 4 bytes.
_RECORD: Final = struct.pack("!HHHIH", 0xC00C, _A, 1, 1, 4)


@dataclass
class NameServer:
    """What it knows.

    Attributes:
        address: Its own address, host:port.
        host: The one host that it is asked for.
        address_of_host: The host's IPv4 address, or none while there is no such host.
    """

    address: str
    host: str
    address_of_host: str | None = None

    def answer(self, query: bytes) -> bytes:
        """Return the answer to a query (RFC 1035)."""
        number = _HEADER.unpack_from(query)[0]
        end = query.index(b"\0", _HEADER.size) + 5
        question, kind = query[_HEADER.size : end], struct.unpack("!H", query[end - 4 : end - 2])[0]
        wanted = b"".join(bytes([len(label)]) + label.encode() for label in self.host.split(".")) + b"\0"
        if self.address_of_host is None or question[:-4].lower() != wanted.lower():
            return _HEADER.pack(number, _RESPONSE | _NO_SUCH_NAME, 1, 0, 0, 0) + question
        records = [_RECORD + socket.inet_aton(self.address_of_host)] if kind == _A else []
        return _HEADER.pack(number, _RESPONSE, 1, len(records), 0, 0) + question + b"".join(records)


@contextmanager
def answering(host: str) -> Iterator[NameServer]:
    """Answer on a free port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.settimeout(0.1)
        server, ended = NameServer(f"127.0.0.1:{listener.getsockname()[1]}", host), threading.Event()

        def run() -> None:
            while not ended.is_set():
                try:
                    query, sender = listener.recvfrom(4096)
                except TimeoutError:
                    continue
                listener.sendto(server.answer(query), sender)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            ended.set()
            thread.join()
