"""What a user states of monitoring: how metrics are scraped, which rules are written, and what was promised."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from constructs_pd.planning.model_base import FrozenModel
from constructs_pd.planning.spec_types import DNS_1035_LABEL, DNS_1123_LABEL, LabelKey, LabelValue

Scraping = Literal["pod_monitors", "annotations"]


#: The values of kube-prometheus-stack 88.5.3 (sidecar.dashboards.label and labelValue).
_DASHBOARD_LABELS: dict[str, str] = {"grafana_dashboard": "1"}
#: Of chart prometheus-node-exporter, release efa-node-exporter (awslabs/awsome-distributed-ai
#: 4.validation_and_observability/3.efa-node-exporter/EKS/README.md, read on 2026-11-30).
_EFA_EXPORTER_LABELS: dict[str, str] = {
    "app.kubernetes.io/name": "prometheus-node-exporter",
    "app.kubernetes.io/instance": "efa-node-exporter",
}


class Dashboards(FrozenModel):
    """Grafana's dashboards, in ConfigMaps for its sidecar. `{}` is enough beside kube-prometheus-stack."""

    labels: dict[LabelKey, LabelValue] = Field(
        default=_DASHBOARD_LABELS,
        min_length=1,
        description="labels by which Grafana's sidecar selects ConfigMaps; the default is kube-prometheus-stack's",
    )
    folder: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.-]{0,62}$",
        description="Grafana's folder for them, where its provider has foldersFromFilesStructure; default: none",
    )
    folder_annotation: LabelKey = Field(
        default="k8s-sidecar-target-directory",
        description="the annotation that names the folder: your chart's sidecar.dashboards.folderAnnotation; the "
        "default is the sidecar's own",
    )


class EfaExporter(FrozenModel):
    """AWS's EFA node exporter, which the cluster has: it is scraped, and its counters get the phase of their node."""

    namespace: str = Field(
        pattern=rf"^{DNS_1123_LABEL}$", max_length=63, description="the namespace of the exporter's pods"
    )
    pod_labels: dict[LabelKey, LabelValue] = Field(
        default=_EFA_EXPORTER_LABELS,
        min_length=1,
        description="labels that select the exporter's pods; the default is those of chart prometheus-node-exporter "
        "installed as efa-node-exporter, as in AWS's instructions",
    )
    port_name: str = Field(
        default="metrics",
        max_length=15,
        pattern=rf"^{DNS_1035_LABEL}$",
        description="the name of their port",
    )


class Monitoring(FrozenModel):
    """Scraping, recording rules and alerts per phase, in a file beside the rest. `{}` is enough beside an operator."""

    scraping: Scraping = Field(
        default="pod_monitors",
        description="pod_monitors: PodMonitors and a PrometheusRule for the Prometheus operator; annotations: "
        "prometheus.io annotations of the pods, and the rules as a file",
    )
    labels: dict[LabelKey, LabelValue] = Field(
        default={},
        description="labels by which the operator's Prometheus selects monitors and rules, such as "
        "{release: kube-prometheus-stack}; default: none",
    )
    rules: bool = Field(default=True, description="whether recording rules and alerts are written: true or false")
    runbook_base_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^\s?#{}]+$",
        description="where your copy of docs/runbooks/ is found, such as https://wiki.example.com/runbooks; default: "
        "alerts name the path in this repository",
    )
    dcgm_exporter: bool = Field(
        default=False,
        description="true: NVIDIA's DCGM exporter is among the charts, for metrics of the GPUs; or false",
    )
    efa_exporter: EfaExporter | None = Field(
        default=None, description="AWS's EFA node exporter where the cluster has it; default: it is not looked for"
    )
    dashboards: Dashboards | None = Field(
        default=None,
        description="dashboards for Grafana, of which building needs the extra constructs-pd[observability]; "
        "default: none",
    )


class Slo(FrozenModel):
    """What clients were promised, over 30 days. Alerts say how fast the rest of it is used up.

    Where `traffic` has the length of answers too, the plan says whether it can be kept.
    """

    ttft_p95_seconds: float | None = Field(
        default=None,
        ge=0.01,
        le=2560,
        allow_inf_nan=False,
        description="the time to the first token that 95 of 100 requests keep to, 0.01 to 2560 seconds; default: none",
    )
    ttft_decode_seconds: float | None = Field(
        default=None,
        ge=0.001,
        le=1280,
        allow_inf_nan=False,
        description="how much of ttft_p95_seconds is for decode: the wait for the KV cache and the first step; "
        "default: twice what the plan reckons for the longest context, and itl_p95_seconds",
    )
    itl_p95_seconds: float | None = Field(
        default=None,
        ge=0.01,
        le=80,
        allow_inf_nan=False,
        description="the time between two tokens that 95 of 100 keep to, 0.01 to 80 seconds; default: none",
    )
    availability: float | None = Field(
        default=None,
        ge=0.5,
        lt=1,
        allow_inf_nan=False,
        description="the share of requests that the endpoint answers without an error of its own, such as 0.999; "
        "default: none",
    )

    @model_validator(mode="after")
    def _promises_something(self) -> Self:
        """Refuse what no alert would follow from.

        Raises:
            PydanticCustomError: Nothing is promised, or a part of what is not.
        """
        if self.ttft_decode_seconds is not None and self.ttft_p95_seconds is None:
            raise PydanticCustomError("no_whole", "ttft_decode_seconds is a part of ttft_p95_seconds, which is missing")
        if self.ttft_p95_seconds is None and self.itl_p95_seconds is None and self.availability is None:
            raise PydanticCustomError("no_promise", "it holds 0 promises")
        return self
