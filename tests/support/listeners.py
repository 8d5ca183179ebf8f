"""Which addresses processes listen on, as Linux knows them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

_LISTENING = "0A"
_LOOPBACK = {
    "0100007F",
    "00000000000000000000000001000000",  # ::1
    "0000000000000000FFFF00000100007F",  # ::ffff:127.0.0.1
}


def listeners(processes: Iterable[int]) -> dict[int, str]:
    """Return the inodes of the TCP sockets that these processes listen on, with the address as /proc shows it."""
    wanted = {inode for process in processes for inode in _sockets(process)}
    found = {}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == _LISTENING and int(fields[9]) in wanted:
                found[int(fields[9])] = fields[1].split(":")[0]
    return found


def is_loopback(address: str) -> bool:
    """Whether nobody else on the network reaches an address."""
    return address in _LOOPBACK


def with_user(user: str) -> list[int]:
    """Return the processes whose environment has this USER: those that a test's own program started."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"USER={user}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def _sockets(process: int) -> list[int]:
    found = []
    try:
        for link in Path(f"/proc/{process}/fd").iterdir():
            if match := re.fullmatch(r"socket:\[(\d+)\]", os.readlink(link)):
                found.append(int(match[1]))
    except OSError:
        return found
    return found
