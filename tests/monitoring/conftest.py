"""The deployment whose rules are read, and the programs that read them."""

from __future__ import annotations

import pytest

from constructs_pd import DeploymentPlan
from support.prometheus import prometheus_is_here, promtool
from support.specs import plan_with

__all__ = ["prometheus_is_here", "promtool"]

SLO = {"ttft_p95_seconds": 2.0, "itl_p95_seconds": 0.06, "availability": 0.999}
MONITORED = {"monitoring": {"dcgm_exporter": True}, "slo": SLO}


@pytest.fixture(scope="session")
def plan() -> DeploymentPlan:
    return plan_with(MONITORED)
