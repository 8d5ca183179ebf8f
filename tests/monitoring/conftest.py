"""Prometheus and promtool, and the deployment whose rules they read."""

from __future__ import annotations

from pathlib import Path

import pytest

from constructs_pd import DeploymentPlan
from support.specs import plan_with
from tools.monitoring.programs import NoProgramError, program

SLO = {"ttft_p95_seconds": 2.0, "itl_p95_seconds": 0.06, "availability": 0.999}
MONITORED = {"monitoring": {"dcgm_exporter": True}, "slo": SLO}


@pytest.fixture(scope="session")
def plan() -> DeploymentPlan:
    return plan_with(MONITORED)


@pytest.fixture(scope="session")
def promtool() -> Path:
    return _program("promtool")


@pytest.fixture(scope="session")
def prometheus_is_here() -> None:
    _program("prometheus")


def _program(name: str) -> Path:
    try:
        return program(name)
    except NoProgramError as error:
        pytest.skip(str(error))
