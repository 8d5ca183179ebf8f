"""The suite as a program of its own, for a pod in the cluster: it waits for what was applied, then checks it.

It needs no more than httpx, openai, pydantic and PyYAML. The ray-llm image has httpx 0.28.1, openai 3.5.0 and pydantic
2.13.5 under Python 3.13 (docker/ray_llm/uv.lock in aws/deep-learning-containers@2bfe1a8, 2026-11-30), and PyYAML, on
which Ray depends. vLLM 0.26.0 asks for openai, and for httpx by fastapi[standard]: openai 3 itself has httpx2 instead.
"""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from constructs_pd.conformance.checks import CHECKS
from constructs_pd.conformance.outcome import Result
from constructs_pd.conformance.problems import BUSY, DOWN, NOT_OPENAI, SLOW, EndpointError
from constructs_pd.conformance.report import lines_of, summary_of
from constructs_pd.conformance.rolled_out import LOOKS, NotRolledOutError, RayService
from constructs_pd.conformance.run import run
from constructs_pd.conformance.settings import Settings

CHECK_FAILED: Final = 1
NOT_CHECKED: Final = 2
PAUSE_SECONDS: Final = 10
# What a deployment that starts answers: no connection, or its proxies before the application.
_NOT_YET: Final = {problem.code for problem in (DOWN, SLOW, NOT_OPENAI, BUSY)}


def main(arguments: Sequence[str] | None = None, pause_seconds: float = PAUSE_SECONDS) -> int:
    """Check an endpoint and return 0, 1 where a check failed, or 2 where it could not be checked in time."""
    stated = _parser().parse_args(arguments)
    settings = Settings(
        base_url=stated.base_url,
        model=stated.model,
        deadline_seconds=stated.deadline,
        versions={"ray": stated.ray, "vllm": stated.vllm},
        metrics_url=stated.metrics_url,
    )
    service = RayService(stated.account, stated.namespace, stated.rayservice)
    end = time.monotonic() + stated.wait
    if not _is_rolled_out(service, end, pause_seconds):
        return NOT_CHECKED
    while True:
        try:
            report = run(settings, CHECKS, _show)
        except EndpointError as error:
            if error.finding.code not in _NOT_YET or time.monotonic() >= end:
                _say(str(error))
                return NOT_CHECKED
            _say(f"waiting: {error.finding.message}")
            time.sleep(pause_seconds)
        else:
            _say(summary_of(report))
            return 0 if report.is_conforming else CHECK_FAILED


def _is_rolled_out(service: RayService, end: float, pause_seconds: float) -> bool:
    looks = 0
    while True:
        try:
            service.require_rolled_out()
        except NotRolledOutError as error:
            if time.monotonic() >= end:
                _say(f"not checked: {error}")
                return False
            looks = 0
            _say(f"waiting: {error}")
        else:
            looks += 1
            if looks == LOOKS:
                return True
        time.sleep(pause_seconds)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="python -m constructs_pd.conformance")
    for name in ("--base-url", "--model", "--ray", "--vllm", "--metrics-url", "--namespace", "--rayservice"):
        parser.add_argument(name, required=True)
    parser.add_argument("--account", type=Path, required=True, metavar="FOLDER")
    for name in ("--wait", "--deadline"):
        parser.add_argument(name, type=float, required=True, metavar="SECONDS")
    return parser


def _show(result: Result) -> None:
    for line in lines_of(result):
        _say(line)


def _say(line: str) -> None:
    # A pod's output is a pipe, and would come in blocks.
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
