"""What a user states of monitoring: how metrics are scraped, which rules are written, and what was promised."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from constructs_pd.planning.model_base import FrozenModel
from constructs_pd.planning.spec_types import LabelKey, LabelValue

Scraping = Literal["pod_monitors", "annotations"]


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
        pattern=r"^https?://[^\s?#]+$",
        description="where your copy of docs/runbooks/ is found, such as https://wiki.example.com/runbooks; default: "
        "alerts name the path in this repository",
    )
    dcgm_exporter: bool = Field(
        default=False,
        description="true: NVIDIA's DCGM exporter is among the charts, for metrics of the GPUs; or false",
    )


class Slo(FrozenModel):
    """What clients were promised, over 30 days. Alerts say how fast the rest of it is used up."""

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
