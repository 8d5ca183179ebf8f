"""The Serve application: Ray Serve LLM's prefill/decode builder and its arguments."""

from __future__ import annotations

from typing import Any, Final

import yaml

from constructs_pd.planning.deployment_plan import DeploymentPlan, PhasePlan

APPLICATION_NAME: Final = "llm"


def serve_config(plan: DeploymentPlan) -> dict[str, Any]:
    """Return the Serve configuration as a document."""
    return {
        # A proxy on every node that has a replica: KubeRay's readiness probe of a worker asks it.
        "proxy_location": "EveryNode",
        "http_options": {
            "host": "0.0.0.0",
            "port": plan.ports.serve,
            "keep_alive_timeout_s": plan.timeouts.keep_alive_seconds,
            "request_timeout_s": plan.timeouts.request_seconds,
        },
        **_logging(plan),
        "applications": [
            {
                "name": APPLICATION_NAME,
                "route_prefix": "/",
                "import_path": "ray.serve.llm:build_pd_openai_app",
                "args": {
                    "prefill_config": _llm_config(plan, plan.prefill),
                    "decode_config": _llm_config(plan, plan.decode),
                    "ingress_deployment_config": {
                        "num_replicas": plan.serve_ingress.replicas,
                        "graceful_shutdown_timeout_s": plan.timeouts.replica_shutdown_seconds,
                        "ray_actor_options": {
                            "num_cpus": plan.serve_ingress.cpu_cores,
                            "resources": plan.serve_ingress.ray_resources,
                        },
                    },
                },
            }
        ],
    }


def serve_config_v2(plan: DeploymentPlan) -> str:
    """Return the Serve configuration as the text of a RayService's `serveConfigV2`.

    A text made here, because values in a cdk8s patch lose their types: 1.0 becomes 1.
    """
    return yaml.safe_dump(serve_config(plan), sort_keys=True, default_flow_style=False, width=120)


def _logging(plan: DeploymentPlan) -> dict[str, Any]:
    encoding = plan.observability.serve_encoding
    return {} if encoding is None else {"logging_config": {"encoding": encoding}}


def _llm_config(plan: DeploymentPlan, phase: PhasePlan) -> dict[str, Any]:
    config: dict[str, Any] = {
        "model_loading_config": {"model_id": plan.model.served_name, "model_source": plan.model.source},
        "engine_kwargs": {**phase.engine_arguments, "kv_transfer_config": _kv_transfer_config(plan, phase)},
        "deployment_config": {
            "num_replicas": phase.replicas,
            "graceful_shutdown_timeout_s": plan.timeouts.replica_shutdown_seconds,
            "health_check_period_s": plan.timeouts.health_check_seconds,
        },
        "placement_group_config": {"bundle_per_worker": phase.ray_bundle, "strategy": "STRICT_PACK"},
        "experimental_configs": {"NIXL_SIDE_CHANNEL_PORT_BASE": phase.nixl_side_channel_port},
    }
    if phase.accelerator_type is not None:
        config["accelerator_type"] = phase.accelerator_type
    return config


def _kv_transfer_config(plan: DeploymentPlan, phase: PhasePlan) -> dict[str, Any]:
    return {
        "kv_connector": "NixlConnector",
        "kv_role": phase.kv_role,
        # Straight from and into GPU memory; staging through the host fails on hybrid models (vLLM 0.26.0).
        "kv_buffer_device": "cuda",
        # The environment variables that once chose the backend are ignored; the default, UCX, is TCP on EFA.
        "kv_connector_extra_config": {"backends": [plan.nixl_backend]},
        # A hand-over that fails must fail the request and not be answered from a wrong cache.
        "kv_load_failure_policy": "fail",
    }
