"""A scrape configuration of Prometheus from a PodMonitor, as the Prometheus operator makes one.

The operator (prometheus-operator pkg/prometheus/promcfg.go) adds namespace, container and pod, then the monitor's own
relabelings. Here the targets are given, with what Kubernetes would say of each pod.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from constructs_pd.manifests.monitoring.pod_monitors import label_name


@dataclass(frozen=True)
class Target:
    """A pod.

    Attributes:
        address: Host and port of its metrics.
        pod: Its name.
        namespace: Its namespace.
        labels: Its labels.
    """

    address: str
    pod: str
    namespace: str
    labels: Mapping[str, str]


def scrape_config(job: str, monitor: Mapping[str, Any], targets: Sequence[Target], seconds: float) -> dict[str, Any]:
    """Return the configuration of one job.

    Args:
        job: Its name.
        monitor: The PodMonitor's spec, with one endpoint.
        targets: The pods that it selects.
        seconds: Between two looks at a pod, in the place of the monitor's own interval.
    """
    (endpoint,) = monitor["podMetricsEndpoints"]
    meta = [
        {"source_labels": ["__meta_kubernetes_namespace"], "target_label": "namespace"},
        {"source_labels": ["__meta_kubernetes_pod_name"], "target_label": "pod"},
    ]
    return {
        "job_name": job,
        "scrape_interval": f"{seconds:g}s",
        "scrape_timeout": f"{seconds:g}s",
        "metrics_path": endpoint["path"],
        "honor_labels": endpoint.get("honorLabels", False),
        "relabel_configs": [*meta, *(_snake(each) for each in endpoint.get("relabelings", ()))],
        "metric_relabel_configs": [_snake(each) for each in endpoint.get("metricRelabelings", ())],
        "static_configs": [{"targets": [target.address], "labels": _of_kubernetes(target)} for target in targets],
    }


def _of_kubernetes(target: Target) -> dict[str, str]:
    labels = {f"__meta_kubernetes_pod_label_{label_name(key)}": value for key, value in target.labels.items()}
    return {
        "__meta_kubernetes_namespace": target.namespace,
        "__meta_kubernetes_pod_name": target.pod,
        **labels,
    }


def _snake(relabeling: Mapping[str, Any]) -> dict[str, Any]:
    return {re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", key): value for key, value in relabeling.items()}
