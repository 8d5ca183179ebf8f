"""The page of dashboards."""

from __future__ import annotations

from typing import Any, Final

from tools.dashboards.deployment import drawn_dashboards
from tools.pages.promql import Query, promql
from tools.pages.table import NOTE, table

_HEAD: Final = """# Dashboards

Grafana dashboards that show prefill and decode side by side, with what was promised and what the plan reckons with as
marks.

```yaml
monitoring:
  dashboards:              # {} is enough beside kube-prometheus-stack
    folder: Inference
slo:                       # without it nothing is marked as promised
  ttft_p95_seconds: 2.0
  itl_p95_seconds: 0.05
  availability: 0.999
```

[`DeploymentMonitoring`](deployment_monitoring.md) builds them with `grafana-foundation-sdk`:
`pip install 'constructs-pd[observability]'`. Each is a ConfigMap in `dist/monitoring/NAME-monitoring.k8s.yaml`, beside
what [monitoring.md](monitoring.md) describes. Their panels read the recording rules, so `rules: false` is refused.

## How Grafana finds them

A sidecar beside Grafana writes ConfigMaps with a label into a folder, and Grafana loads them from there.

"""

_SIDECAR: Final = (
    (
        "the label",
        "`dashboards.labels`",
        '`grafana_dashboard: "1"`',
        "kube-prometheus-stack 88.5.3 has this label",
    ),
    (
        "the namespace",
        "the deployment's",
        "",
        "kube-prometheus-stack 88.5.3 looks in all, the chart `grafana` 12.11.1 (searchNamespace) in its own",
    ),
    ("the folder", "`dashboards.folder`", "none", "Grafana's folder General"),
    (
        "the annotation that names it",
        "`dashboards.folder_annotation`",
        "`k8s-sidecar-target-directory`",
        "kiwigrid/k8s-sidecar a61c7ac reads it, where the chart sets no other (folderAnnotation)",
    ),
)

_REST: Final = """
Folders are only made where `sidecar.dashboards.provider.foldersFromFilesStructure` is true, which it is not by default
in the chart `grafana` 12.11.1. The data source is chosen on the dashboard; by default it is the first Prometheus of
Grafana. The dashboards of a deployment link to each other, and those of two deployments have ids of their own. They are
written in Grafana 10.1's schema, which later versions read; no Grafana was run to try them.

## Where the numbers of EFA come from

DCGM has none of EFA's counters, and Prometheus' node exporter has none of them either: it reads InfiniBand's, which
EFA does not keep (prometheus/node_exporter#3670 would read them; it was open when last seen, on 2026-11-30). AWS has a
node exporter with a collector of its own (awslabs/awsome-distributed-ai 95b939c,
4.validation_and_observability/3.efa-node-exporter), which you build and install. Say that your cluster has it, and
`NAME-efa` scrapes it, with the phase of each node:

```yaml
monitoring:
  efa_exporter:
    namespace: default   # AWS's instructions install it there
  dashboards: {}
```

It must run on the GPU nodes, on a port of its own. Without it the row EFA is left out, without `dcgm_exporter` the row
GPUs, without both the dashboard `gpus`. Series beside EFA's own are not kept.

## The pictures

`python -m tools.dashboards` starts a Prometheus on what was recorded of the reference deployment with the real vLLM on
two CPU cores ([monitoring.md](monitoring.md)), asks each panel's queries, and draws the answers where Grafana's grid
has the panels. The promises are those of GPUs, which CPUs break. Windows are five minutes, and the recording is little
longer: what is a rate grows until they are full. Panels that say `series made up` show what no rehearsal has: GPUs, EFA
and an alert that fires. Below each table are the queries of its panels, which read the
[recording rules](monitoring_rules.md). Tests find a picture of another dashboard or of other data.
"""


_ASKED: Final = """<details>
<summary>What its panels ask Prometheus</summary>
"""


def dashboards_page() -> str:
    """Return how to use the dashboards, a picture of each and what its panels answer."""
    sidecar = table(("what", "field", "default", "why"), _SIDECAR)
    return (
        NOTE
        + _HEAD
        + sidecar
        + _REST
        + "".join(_section(name, dashboard) for name, dashboard in drawn_dashboards().items())
    )


def _section(name: str, dashboard: dict[str, Any]) -> str:
    picture = f"![{name}](dashboards/{name}.png)"
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    answers = table(("panel", "what it answers"), ((panel["title"], panel["description"]) for panel in panels))
    asked = promql(Query(panel["title"], tuple(target["expr"] for target in panel["targets"])) for panel in panels)
    return f"\n## {name}\n\n{picture}\n\n{answers}\n{_ASKED}\n{asked}\n</details>\n"
