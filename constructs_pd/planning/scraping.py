"""The annotations by which a Prometheus without the operator finds pods.

They are a convention of the scrape configuration, such as that of the prometheus-community chart `prometheus`
(values.yaml, job kubernetes-pods) and of AWS's for Amazon Managed Prometheus; Prometheus itself knows none of them.
"""

from __future__ import annotations

from typing import Final

PREFIX: Final = "prometheus.io/"
#: The DCGM exporter's port (NVIDIA/dcgm-exporter 4.5.3-4.8.2, deployment/values.yaml).
DCGM_PORT: Final = 9400


def scrape_annotations(port: int) -> dict[str, str]:
    """Return the annotations of a pod whose metrics are at a port."""
    return {f"{PREFIX}scrape": "true", f"{PREFIX}port": str(port), f"{PREFIX}path": "/metrics"}
