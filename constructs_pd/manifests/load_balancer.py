"""Annotations for the AWS Load Balancer Controller. A misspelled key is ignored in silence, so they stand here once."""

from __future__ import annotations

from typing import Final

from constructs_pd.planning.deployment_plan import DeploymentPlan

PREFIX: Final = "alb.ingress.kubernetes.io"


def ingress_annotations(plan: DeploymentPlan) -> dict[str, str]:
    """Return the annotations of an internal Application Load Balancer in front of the serve Service."""
    annotations = {
        "scheme": "internal",
        # The serve Service is a ClusterIP: instances have no port to reach it.
        "target-type": "ip",
        "listen-ports": '[{"HTTP": 80}]',
        # Serve answers 404 on the default path.
        "healthcheck-path": "/-/healthz",
        "healthcheck-port": "traffic-port",
        "success-codes": "200",
        # A long prefill sends no byte; the default of 60 s would cut it.
        "load-balancer-attributes": f"idle_timeout.timeout_seconds={plan.timeouts.idle_seconds}",
        "target-group-attributes": f"deregistration_delay.timeout_seconds={plan.timeouts.node_drain_seconds}",
    }
    if plan.endpoint.subnet_ids:
        annotations["subnets"] = ",".join(plan.endpoint.subnet_ids)
    return {f"{PREFIX}/{key}": value for key, value in annotations.items()}
