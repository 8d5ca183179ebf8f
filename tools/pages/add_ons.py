"""The page of add-ons and charts."""

from __future__ import annotations

import json
from typing import Any

from constructs_pd import Monitoring, load_spec, plan
from constructs_pd.planning.catalog import load_catalog
from tools.pages.table import DOCS, NOTE, table


def add_ons_page() -> str:
    """Return every add-on and chart of the reference deployment, with its version and what is set in it."""
    reference = load_spec(DOCS.parent / "apps" / "reference.yaml")
    planned = plan(reference.model_copy(update={"monitoring": Monitoring(dcgm_exporter=True)}))
    assert planned.eks_cluster is not None
    head = (
        "# Add-ons\n\n"
        "What a deployment needs in its cluster beside its own objects, as the reference deployment has it, with\n"
        "`monitoring.dcgm_exporter`. What is not set is the add-on's or the chart's own. Tests render the charts with\n"
        "Helm as they are published, with these values.\n\n"
    )
    catalog = load_catalog()
    addons = [
        (
            addon.name,
            addon.version,
            addon.stage,
            f"`{json.dumps(addon.configuration)}`" if addon.configuration else "",
            catalog.addons[addon.name].source,
            str(catalog.addons[addon.name].date),
        )
        for addon in planned.eks_cluster.addons
    ]
    charts = [
        (
            chart.name,
            chart.version,
            chart.namespace,
            _values({**chart.values, **{name: f"<{what}>" for name, what in chart.cluster_values.items()}}),
            catalog.charts[chart.name].source,
            str(catalog.charts[chart.name].date),
        )
        for chart in planned.charts
    ]
    values = [(f"{row.chart}: `{row.path}`", row.reason, row.source) for row in catalog.chart_values.values()]
    note = (
        "\n`eks_cluster.addon_versions` takes other versions; PD410 says of which versions nobody has seen that EKS "
        "offers them.\n"
    )
    return (
        NOTE
        + head
        + "## Add-ons that EKS manages, in a new cluster\n\n"
        + table(("add-on", "version", "when", "configuration", "source", "date"), addons)
        + note
        + "\n## Helm charts, in any cluster\n\n"
        + table(("chart", "version", "namespace", "values", "source", "date"), charts)
        + "\n"
        + table(("value", "why", "source"), values)
    )


def _values(values: dict[str, Any]) -> str:
    shown = json.dumps(values, sort_keys=True)
    types = ", ".join(f'"{name}"' for name in sorted(load_catalog().instances))
    return f"`{shown.replace(types, '<the types of the catalogue and of the specification>')}`" if values else ""
