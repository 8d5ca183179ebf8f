"""kubectl, as a user runs it."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Object = dict[str, Any]


class RefusedError(Exception):
    """The API server refused something; the text is its own."""


class NotFoundError(RefusedError):
    """There is no such object."""


class Kubectl:
    """Calls one cluster. Every warning of the API server is kept in `warnings`."""

    def __init__(self, program: Path, kubeconfig: Path) -> None:
        self._command = [str(program), "--kubeconfig", str(kubeconfig)]
        self.warnings: list[str] = []

    def run(self, *arguments: str, given: str | None = None) -> str:
        """Run a command and return what it prints.

        Raises:
            RefusedError: It failed.
        """
        done = subprocess.run(
            [*self._command, *arguments], input=given, capture_output=True, text=True, check=False, timeout=120
        )
        self.warnings += [line for line in done.stderr.splitlines() if line.startswith("Warning:")]
        if done.returncode != 0:
            missing = "(NotFound)" in done.stderr
            raise (NotFoundError if missing else RefusedError)(done.stderr.strip())
        return done.stdout

    def apply(self, objects: Iterable[Object], *more: str) -> None:
        """Apply objects on the server's side; a field that it does not know is an error."""
        items = list(objects)
        if not items:
            return
        documents = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
        self.run("apply", "--server-side", "--force-conflicts", "--validate=strict", *more, "-f", "-", given=documents)

    def apply_file(self, path: Path) -> None:
        """Apply a file or a folder of manifests, likewise; kubectl itself does not follow a link to a folder."""
        self.run("apply", "--server-side", "--force-conflicts", "--validate=strict", "-f", str(path.resolve()))

    def list(self, kind: str, namespace: str | None = None, selector: str = "") -> list[Object]:
        """Return the live objects of a kind, in one namespace or in all."""
        where = ["--namespace", namespace] if namespace else ["--all-namespaces"]
        selected = ["--selector", selector] if selector else []
        items: list[Object] = json.loads(self.run("get", kind, *where, *selected, "-o", "json"))["items"]
        return items

    def get(self, kind: str, name: str, namespace: str) -> Object:
        """Return a live object."""
        found: Object = json.loads(self.run("get", kind, name, "--namespace", namespace, "-o", "json"))
        return found


def wait_for(what: str, read: Callable[[], Any], seconds: float = 60) -> Any:
    """Return the first true value that is read.

    Raises:
        TimeoutError: There was none in time.
    """
    until = time.monotonic() + seconds
    while True:
        value = read()
        if value:
            return value
        if time.monotonic() > until:
            raise TimeoutError(f"no {what} in {seconds:.0f} s")
        time.sleep(0.3)
