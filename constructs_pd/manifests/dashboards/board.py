"""A dashboard while it is built: what all of them have alike."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import dashboard as models

from constructs_pd.planning.deployment_plan import DeploymentPlan

#: The user chooses among Grafana's Prometheus data sources; the first one stands there by default.
_DATASOURCE: Final = "datasource"
DATASOURCE: Final = models.DataSourceRef(type_val="prometheus", uid=f"${{{_DATASOURCE}}}")
_REFRESH: Final = "30s"
_SINCE: Final = "now-1h"
_UNIQUE_DIGITS: Final = 12

# The library's panels of each kind share no type of their own that has these methods.
Panel = Any


class Board:
    """A dashboard to which rows and panels are added, from the left to the right and from the top to the bottom.

    Args:
        plan: The deployment that it shows.
        name: Its name among the deployment's dashboards.

    Attributes:
        dashboard: The library's builder of it.
        has_panels: Whether a panel was added.
    """

    def __init__(self, plan: DeploymentPlan, name: str) -> None:
        whole = f"{plan.namespace}/{plan.name}"
        # Grafana's limits are 40 characters of an id and 50 bytes of a tag, and both names together may be longer: it
        # refuses a dashboard with a longer tag (grafana/grafana#116047, ErrDashboardTagTooLong, read on 2026-11-30).
        own = f"pd-{hashlib.sha256(whole.encode()).hexdigest()[:_UNIQUE_DIGITS]}"
        self.has_panels = False
        self._ids = 0
        others = builders.DashboardLink("dashboards of this deployment").type(models.DashboardLinkType.DASHBOARDS)
        self.dashboard = (
            builders.Dashboard(f"{whole}: {name}")
            .uid(f"{own}-{name}")
            .tags(["constructs-pd", own])
            .readonly()
            .refresh(_REFRESH)
            .time(_SINCE, "now")
            .tooltip(models.DashboardCursorSync.CROSSHAIR)
            .link(others.tags([own]).keep_time(True).include_vars(True))
            .with_variable(builders.DatasourceVariable(_DATASOURCE).label("Prometheus").type("prometheus"))
        )

    def row(self, title: str) -> None:
        """Begin a row."""
        self.dashboard.with_row(builders.Row(title).id(self._next()))

    def add(self, *panels: Panel) -> None:
        """Add panels beside each other; those of one call fill the width."""
        self.has_panels = True
        for panel in panels:
            built: Builder[models.Panel] = panel.id(self._next())
            self.dashboard.with_panel(built)

    def _next(self) -> int:
        self._ids += 1
        return self._ids
