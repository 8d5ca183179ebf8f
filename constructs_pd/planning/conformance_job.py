"""The run of the conformance suite in the cluster."""

from __future__ import annotations

from constructs_pd.planning import defaults
from constructs_pd.planning.deployment_plan import ConformanceJobPlan
from constructs_pd.planning.labels import labels, role_labels
from constructs_pd.planning.spec import DeploymentSpec


def conformance_job(spec: DeploymentSpec) -> ConformanceJobPlan:
    """Return the run. It waits as long as KubeRay does, where KubeRay gives up."""
    service = f"{spec.name}-decode-metrics"
    wait_seconds = spec.initializing_timeout_seconds or defaults.CONFORMANCE_WAIT_SECONDS
    return ConformanceJobPlan(
        # Short: a Job's name has 63 characters, a deployment's 47, and a hash follows.
        name_prefix=f"{spec.name}-check",
        pod_labels={**labels(spec), **role_labels(spec.name, "check")},
        metrics_service_name=service,
        metrics_url=f"http://{service}.{spec.namespace}.svc.cluster.local:{defaults.METRICS_PORT}/metrics",
        cpu_request_millicores=defaults.CONFORMANCE_CPU_REQUEST_MILLICORES,
        cpu_limit_cores=defaults.CONFORMANCE_CPU_LIMIT_CORES,
        memory_mib=defaults.CONFORMANCE_MEMORY_MIB,
        wait_seconds=wait_seconds,
        run_seconds=defaults.CONFORMANCE_RUN_SECONDS,
        deadline_seconds=wait_seconds + defaults.CONFORMANCE_RUN_SECONDS + defaults.CONFORMANCE_PULL_SECONDS,
    )
