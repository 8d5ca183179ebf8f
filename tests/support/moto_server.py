"""AWS as far as moto carries it, on loopback, and the CDK's CLI pointed at it."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import boto3

from support.processes import ROOT

ACCOUNT = "123456789012"  # moto's
REGION = "us-west-2"
IGNORED = re.compile(r"No Moto CloudFormation support for (AWS::[A-Za-z0-9:]+)")


@dataclass(frozen=True)
class Moto:
    """A running server."""

    port: int
    log: Path

    @property
    def url(self) -> str:
        """Return the address of every service."""
        return f"http://127.0.0.1:{self.port}"

    def client(self, service: str) -> Any:
        """Return a client of one service."""
        keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
        return boto3.client(service, region_name=REGION, endpoint_url=self.url, **keys)

    def ignored(self) -> set[str]:
        """Return the types of resources that CloudFormation was asked for and moto left out, as it logs them."""
        return set(IGNORED.findall(self.log.read_text(encoding="utf-8")))

    def cdk(self, *arguments: str, **variables: str) -> str:
        """Run the CDK's CLI as a user does; it has no network but this server, and no credentials of the machine.

        Args:
            arguments: What it is given.
            variables: More environment variables, for an app that it runs.

        Raises:
            AssertionError: It failed.
        """
        here = Path(sys.executable).parent
        inherited = {name: value for name, value in os.environ.items() if not name.upper().startswith("AWS_")}
        environment = {
            **{name: value for name, value in inherited.items() if "proxy" not in name.lower()},
            "PATH": f"{here}:{os.environ['PATH']}",
            "AWS_ENDPOINT_URL": self.url,
            # moto reads the bucket out of the host's name, and takes 127 for one.
            "AWS_ENDPOINT_URL_S3_FOR_CLOUDFORMATION": f"http://localhost:{self.port}",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_REGION": REGION,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "CDK_DISABLE_VERSION_CHECK": "true",
            "CI": "true",
            **variables,
        }
        program = [str(here / "node"), str(ROOT / "node_modules" / ".bin" / "cdk")]
        command = [*program, "--no-notices", *arguments]
        done = subprocess.run(
            command, cwd=self.log.parent, env=environment, capture_output=True, text=True, check=False, timeout=180
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr


@contextmanager
def moto_server(folder: Path) -> Iterator[Moto]:
    """Run a server on a free port of loopback; its log lies in the folder."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = Moto(port, folder / "moto.log")
    command = [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with server.log.open("w", encoding="utf-8") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait(server, process)
            yield server
        finally:
            process.terminate()
            process.wait(timeout=30)


def _wait(server: Moto, process: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        assert process.poll() is None, server.log.read_text(encoding="utf-8")
        try:
            with urlopen(f"{server.url}/moto-api/", timeout=5):
                return
        except URLError:
            time.sleep(0.1)
    raise TimeoutError(server.log.read_text(encoding="utf-8"))
