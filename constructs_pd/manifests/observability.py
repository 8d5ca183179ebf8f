"""Files that the Ray pods need for traces and logs, and where they are mounted."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Final

from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.observability import EXPORTER_MODULE, VLLM_LOGGING_FILE

VOLUME: Final = "observability"

# As vLLM's own (vLLM 0.26.0 logger.py), but with the formatter of Ray's JSON logs (Ray 2.58.0 _common/formatters.py).
_VLLM_LOGGING: Final = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"class": "ray._common.formatters.JSONFormatter"}},
    "handlers": {"vllm": {"class": "logging.StreamHandler", "formatter": "json", "stream": "ext://sys.stdout"}},
    "loggers": {"vllm": {"handlers": ["vllm"], "level": "INFO", "propagate": False}},
}


def observability_files(plan: DeploymentPlan) -> dict[str, str]:
    """Return them by name: none, or all that can be needed, so that they are the same for every deployment."""
    if plan.observability.files_name is None:
        return {}
    exporter = files("constructs_pd.manifests").joinpath("trace_exporter.py").read_text(encoding="utf-8")
    logging = json.dumps(_VLLM_LOGGING, indent=2, sort_keys=True) + "\n"
    return {f"{EXPORTER_MODULE}.py": exporter, VLLM_LOGGING_FILE: logging}


def observability_volumes(plan: DeploymentPlan) -> list[dict[str, Any]]:
    """Return the pod's volume with them, where there are any."""
    name = plan.observability.files_name
    return [] if name is None else [{"name": VOLUME, "configMap": {"name": name}}]


def observability_mounts(plan: DeploymentPlan) -> list[dict[str, Any]]:
    """Return the container's mount of that volume."""
    if plan.observability.files_name is None:
        return []
    return [{"name": VOLUME, "mountPath": plan.observability.folder, "readOnly": True}]
