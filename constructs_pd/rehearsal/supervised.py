"""The rehearsal's side of the supervisor: a folder and processes that are gone afterwards, whatever happens."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final

from constructs_pd.rehearsal import supervisor
from constructs_pd.rehearsal.errors import LeftBehindError, RehearsalError

_LAST_LINES: Final = 15
#: A path of a socket of Ray's has about 70 characters below the folder, and 107 at most (unix(7)).
_PARENT: Final = Path("/tmp")


class Supervised:
    """Programs in a folder of their own. A context manager: leaving it ends them and removes the folder.

    Raises:
        RehearsalError: The folder cannot be made.
    """

    def __init__(self) -> None:
        try:
            self.folder = Path(tempfile.mkdtemp(prefix="pd-", dir=_PARENT))
        except OSError as error:
            raise RehearsalError(f"no folder can be made in {_PARENT}: {error.strerror}", "see the message") from None
        self._process = subprocess.Popen(
            [sys.executable, "-I", supervisor.__file__, str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # Out of the terminal's group: Ctrl-C is for the rehearsal, which then ends this.
            start_new_session=True,
        )

    @property
    def process(self) -> int:
        """The supervisor's process; everything else descends from it."""
        return self._process.pid

    def start(self, argv: Sequence[str], environment: Mapping[str, str], log: str) -> int:
        """Start a program with its output in a log, and return its process id.

        Raises:
            RehearsalError: It cannot be started.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {"argv": list(argv), "environment": dict(environment), "log": log}
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            answer = json.loads(self._process.stdout.readline())
        except (OSError, ValueError):
            raise RehearsalError("the supervisor of the rehearsal's processes has ended", "try again") from None
        if "error" in answer:
            raise RehearsalError(f"{argv[0]} cannot be started: {answer['error']}", "see the message")
        return int(answer["pid"])

    def runs(self, process: int) -> bool:
        """Whether a program that was started still runs."""
        return process in supervisor.descendants(self.process)

    def last_lines(self, log: str) -> str:
        """Return the end of a program's log."""
        path = self.folder / f"{log}.log"
        text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        return "\n".join(text.splitlines()[-_LAST_LINES:])

    def close(self) -> None:
        """End every process and remove the folder. A second Ctrl-C while that goes on changes nothing.

        Raises:
            LeftBehindError: The supervisor was ended before it could.
        """
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        while True:
            try:
                self._process.wait()
                break
            except KeyboardInterrupt:
                continue
        assert self._process.stdout is not None
        self._process.stdout.close()
        if self._process.returncode != 0:
            raise LeftBehindError(
                f"the supervisor of its processes ended with status {self._process.returncode}",
                f"end the processes whose command or environment names {self.folder}, and remove that folder",
            )

    def __enter__(self) -> Supervised:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
