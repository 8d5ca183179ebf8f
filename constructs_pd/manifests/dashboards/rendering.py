"""All dashboards of a deployment."""

from __future__ import annotations

import json
from typing import Final

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from constructs_pd.manifests.dashboards.board import Board
from constructs_pd.manifests.dashboards.endpoint import endpoint
from constructs_pd.manifests.dashboards.gpus import gpus
from constructs_pd.manifests.dashboards.hand_over import hand_over
from constructs_pd.manifests.dashboards.overview import overview
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.monitoring_plan import MonitoringPlan

_DASHBOARDS: Final = {"overview": overview, "hand-over": hand_over, "gpus": gpus, "endpoint": endpoint}


def dashboards(plan: DeploymentPlan, monitoring: MonitoringPlan) -> dict[str, str]:
    """Return the dashboards' JSON by their names. One of which nothing is exported is left out."""
    found: dict[str, str] = {}
    for name, build in _DASHBOARDS.items():
        board = Board(plan, name)
        build(board, plan, monitoring)
        if board.has_panels:
            found[name] = json.dumps(board.dashboard.build(), cls=JSONEncoder, indent=1, sort_keys=True)
    return found
