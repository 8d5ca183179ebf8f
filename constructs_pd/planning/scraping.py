"""The annotations by which a Prometheus without the operator finds pods.

They are a convention of the scrape configuration, such as that of the prometheus-community chart `prometheus`
(values.yaml, job kubernetes-pods) and of AWS's for Amazon Managed Prometheus; Prometheus itself knows none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from constructs_pd.planning import defaults

if TYPE_CHECKING:
    from constructs_pd.planning.spec import DeploymentSpec
    from constructs_pd.planning.spec_pods import Pod

PREFIX: Final = "prometheus.io/"
#: The DCGM exporter's port (NVIDIA/dcgm-exporter 4.5.3-4.8.2, deployment/values.yaml).
DCGM_PORT: Final = 9400


def pod_annotations(spec: DeploymentSpec, pod: Pod) -> dict[str, str]:
    """Return all annotations of one kind of Ray's pods."""
    is_scraped = spec.monitoring is not None and spec.monitoring.scraping == "annotations"
    return {**pod.annotations, **(scrape_annotations(defaults.METRICS_PORT) if is_scraped else {})}


def scrape_annotations(port: int) -> dict[str, str]:
    """Return the annotations of a pod whose metrics are at a port."""
    return {f"{PREFIX}scrape": "true", f"{PREFIX}port": str(port), f"{PREFIX}path": "/metrics"}
