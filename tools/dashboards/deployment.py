"""The deployment whose dashboards are drawn: the one that was recorded, with every exporter that it may have."""

from __future__ import annotations

import json
from typing import Any

from constructs_pd.manifests.dashboards import dashboards
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.resolve import plan
from constructs_pd.planning.spec_file import load_spec
from constructs_pd.planning.spec_monitoring import Dashboards, EfaExporter, Monitoring
from tools.monitoring.__main__ import ROOT, SLO

_MONITORING = Monitoring(dcgm_exporter=True, efa_exporter=EfaExporter(namespace="monitoring"), dashboards=Dashboards())


def drawn_plan() -> DeploymentPlan:
    """Return the plan of the reference deployment with all of monitoring, and the promise that was recorded."""
    stated = load_spec(ROOT / "apps" / "reference.yaml")
    return plan(stated.model_copy(update={"monitoring": _MONITORING, "slo": SLO}))


def drawn_dashboards() -> dict[str, dict[str, Any]]:
    """Return its dashboards, as Grafana reads them."""
    planned = drawn_plan()
    assert planned.monitoring is not None
    return {name: json.loads(text) for name, text in dashboards(planned, planned.monitoring).items()}
