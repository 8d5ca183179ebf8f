"""Programs that run while the tests do, and end with them."""

from __future__ import annotations

import ctypes
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import TracebackType

STOP_SECONDS = 20
_PR_SET_PDEATHSIG = 1


def free_port() -> int:
    """Return a TCP port of the loopback address that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Processes:
    """Starts programs, and stops them in the opposite order: however the tests end, and Ctrl-C alike."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._running: list[tuple[str, subprocess.Popen[bytes]]] = []

    def start(self, program: Path, *arguments: str, **environment: str) -> None:
        """Start a program, with its output in a log of its name."""
        with self.log(program.name).open("wb") as output:
            process = subprocess.Popen(
                [str(program), *arguments],
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env={"HOME": str(self._logs), **environment},
                # Out of the terminal's group: Ctrl-C is for pytest, which then stops them here.
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        self._running.append((program.name, process))

    def log(self, name: str) -> Path:
        """Return the log of a program."""
        return self._logs / f"{name}.log"

    def require_running(self) -> None:
        """Raise an error that shows why a program has ended, if one has."""
        for name, process in self._running:
            if process.poll() is not None:
                tail = "\n".join(self.log(name).read_text(errors="replace").splitlines()[-25:])
                raise RuntimeError(f"{name} ended with status {process.returncode}:\n{tail}")

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _, process in reversed(self._running):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running.clear()


def _die_with_parent() -> None:
    """Have Linux end the program when this one is killed and can stop nothing any more."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
