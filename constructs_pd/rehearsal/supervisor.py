"""Runs programs for a rehearsal and leaves nothing behind. A process of its own: `python supervisor.py FOLDER`.

It reads one JSON object a line from standard input, `{"argv": [...], "environment": {...}, "log": "name"}`, starts
that program and answers with its process id. When its input ends, because the rehearsal is over, was interrupted or
was killed, it ends every process that descends from it, also those that Ray's daemons detached, and removes FOLDER.
It is Linux's "subreaper" for them, so that a process whose parent is gone becomes its child and is still known.

Only the standard library is used: it starts before, and ends after, everything else.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Event, Thread
from typing import Final, TextIO

POLITE_SECONDS: Final = 5.0
WATCH_SECONDS: Final = 3.0
_POLL_SECONDS: Final = 0.05
_PR_SET_CHILD_SUBREAPER: Final = 36


def main(folder: Path, orders: TextIO, answers: TextIO) -> int:
    """Obey until the orders end, then clean up."""
    become_subreaper()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # Ctrl-C is for the rehearsal, which then ends the orders.
    shared: set[Path] = set()
    ended = Event()
    watcher = Thread(target=watch_shared_memory, args=(shared, ended), daemon=True)
    watcher.start()
    try:
        for line in orders:
            order = json.loads(line)
            answers.write(json.dumps(start(folder, order)) + "\n")
            answers.flush()
    finally:
        ended.set()
        watcher.join()
        end_descendants()
        remove_unused(shared)
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def become_subreaper() -> None:
    """Have orphaned descendants become children of this process (prctl(2), Linux 3.4)."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def start(folder: Path, order: dict[str, object]) -> dict[str, object]:
    """Start one program with its output in a log of the folder."""
    argv, environment = order["argv"], order["environment"]
    assert isinstance(argv, list)
    assert isinstance(environment, dict)
    with (folder / f"{order['log']}.log").open("ab") as log:
        try:
            process = subprocess.Popen(
                argv,
                env=environment,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            return {"error": str(error)}
    return {"pid": process.pid}


def end_descendants(polite_seconds: float = POLITE_SECONDS) -> None:
    """Ask every descendant to end, then make the rest; return when there is none."""
    _signal(descendants(os.getpid()), signal.SIGTERM)
    _wait_until_none(time.monotonic() + polite_seconds)
    while left := descendants(os.getpid()):
        _signal(left, signal.SIGKILL)
        _wait_until_none(time.monotonic() + 1)


def watch_shared_memory(found: set[Path], ended: Event, interval_seconds: float = WATCH_SECONDS) -> None:
    """Note the shared memory of every descendant, also of those that Serve ends in between; once more at the end."""
    while not ended.wait(interval_seconds):
        found |= shared_memory(descendants(os.getpid()))
    found |= shared_memory(descendants(os.getpid()))


def remove_unused(shared: set[Path]) -> None:
    """Remove files of shared memory that no process maps any more."""
    for path in shared - shared_memory(int(entry) for entry in os.listdir("/proc") if entry.isdigit()):
        path.unlink(missing_ok=True)


def shared_memory(processes: Iterable[int]) -> set[Path]:
    """Return the files of shared memory that processes map: those that are made to end leave them behind."""
    found: set[Path] = set()
    for process in processes:
        try:
            lines = Path(f"/proc/{process}/maps").read_text().splitlines()
        except OSError:
            continue
        # Address, rights, offset, device, inode and path (proc(5)); what is unlinked already ends in "(deleted)".
        names = (line.split(maxsplit=5)[-1] for line in lines if "/dev/shm/" in line)
        found |= {Path(name) for name in names if not name.endswith("(deleted)")}
    return found


def descendants(ancestor: int) -> set[int]:
    """Return the ids of the processes below a process, without those that have ended."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (parent := _living_parent(int(entry))) is not None:
            children.setdefault(parent, []).append(int(entry))
    found: set[int] = set()
    level = [ancestor]
    while level:
        level = [child for process in level for child in children.get(process, ())]
        found.update(level)
    return found


def _living_parent(process: int) -> int | None:
    try:
        # The name, in parentheses, may hold anything; state and parent follow it (proc(5)).
        state, parent = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return None
    return None if state == "Z" else int(parent)


def _signal(processes: Iterable[int], number: signal.Signals) -> None:
    for process in processes:
        try:
            os.kill(process, number)
        except ProcessLookupError:
            continue


def _wait_until_none(deadline: float, now: Callable[[], float] = time.monotonic) -> None:
    while now() < deadline:
        _reap()
        if not descendants(os.getpid()):
            return
        time.sleep(_POLL_SECONDS)


def _reap() -> None:
    """Take note of children that have ended, so that they do not stay as zombies."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue
    except ChildProcessError:
        return


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.stdin, sys.stdout))
