"""A Prometheus on the loopback address: it scrapes, evaluates rules and answers queries."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tools.monitoring.programs import program

_READY_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 30.0


@dataclass(frozen=True)
class Server:
    """A running Prometheus.

    Attributes:
        url: Its address.
        folder: Where its files are.
    """

    url: str
    folder: Path

    def query(self, expression: str, at: float | None = None) -> list[dict[str, Any]]:
        """Return the series of an expression, each with `metric` and `value`."""
        stated = {"query": expression, **({"time": str(at)} if at is not None else {})}
        found: list[dict[str, Any]] = self._ask("query", stated)["result"]
        return found

    def query_range(self, expression: str, start: float, end: float, step: float) -> list[dict[str, Any]]:
        """Return the series of an expression over a time, each with `metric` and `values`."""
        stated = {"query": expression, "start": str(start), "end": str(end), "step": str(step)}
        found: list[dict[str, Any]] = self._ask("query_range", stated)["result"]
        return found

    def rules(self) -> list[dict[str, Any]]:
        """Return the rules with their health."""
        return [rule for group in self._ask("rules", {})["groups"] for rule in group["rules"]]

    def _ask(self, what: str, stated: Mapping[str, str]) -> dict[str, Any]:
        url = f"{self.url}/api/v1/{what}?{urllib.parse.urlencode(stated)}"
        try:
            with urllib.request.urlopen(url, timeout=60) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as error:
            raise ValueError(error.read().decode(errors="replace")) from None
        data: dict[str, Any] = answer["data"]
        return data


@contextmanager
def prometheus(
    folder: Path,
    *,
    scrape_configs: Sequence[Mapping[str, Any]] = (),
    rules: str = "",
    seconds: float = 5.0,
) -> Iterator[Server]:
    """Run Prometheus with its data in a folder, which may hold some already.

    Args:
        folder: Where its files go.
        scrape_configs: Whom it scrapes.
        rules: A rule file.
        seconds: Between two evaluations of the rules.

    Raises:
        NoProgramError: There is no Prometheus.
        RuntimeError: It does not start.
    """
    binary = program("prometheus")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rules.yaml").write_text(rules or "groups: []\n", encoding="utf-8")
    configuration = {
        "global": {"evaluation_interval": f"{seconds:g}s", "scrape_interval": f"{seconds:g}s"},
        "rule_files": ["rules.yaml"],
        "scrape_configs": [dict(each) for each in scrape_configs],
    }
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(configuration), encoding="utf-8")
    port = _free_port()
    log = folder / "prometheus.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                str(binary),
                f"--config.file={folder / 'prometheus.yaml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                "--storage.tsdb.retention.time=10y",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=output,
            stderr=output,
        )
    try:
        server = Server(f"http://127.0.0.1:{port}", folder)
        _wait(server, process, log)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/-/ready", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"Prometheus does not start:\n{log.read_text(encoding='utf-8', errors='replace')[-2000:]}")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    return port
