"""Traces and logs, decided."""

from __future__ import annotations

from typing import Literal

from constructs_pd.planning.model_base import FrozenModel


class ObservabilityPlan(FrozenModel):
    """What the Ray pods report about requests.

    Attributes:
        otlp_endpoint: Where spans are sent, if anywhere.
        serve_encoding: How Ray Serve writes its log, or none for Ray's own choice.
        files_name: ConfigMap with the files that the pods need for it, or none where they need none.
        folder: Where it is mounted.
    """

    otlp_endpoint: str | None
    serve_encoding: Literal["JSON"] | None
    files_name: str | None
    folder: str
