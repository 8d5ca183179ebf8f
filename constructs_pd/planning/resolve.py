"""The planner: from a specification to a plan, or to everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from constructs_pd.findings import Finding, PlanError, Severity, in_order
from constructs_pd.planning import defaults
from constructs_pd.planning.balancer import balancer_plan
from constructs_pd.planning.budget import budgets
from constructs_pd.planning.catalog.loader import Catalog, load_catalog
from constructs_pd.planning.catalog.rows import ImageRow
from constructs_pd.planning.charts import charts
from constructs_pd.planning.cluster_plan import ModelCacheStoragePlan
from constructs_pd.planning.codes import NOTHING_TO_ACKNOWLEDGE
from constructs_pd.planning.conformance_job import conformance_job
from constructs_pd.planning.deployment_plan import (
    DeploymentPlan,
    EndpointPlan,
    HeadPlan,
    ModelPlan,
    PortsPlan,
    RolloutPlan,
    ServeIngressPlan,
    VersionsPlan,
)
from constructs_pd.planning.eks_cluster import eks_cluster_plan
from constructs_pd.planning.facts import Facts, gather
from constructs_pd.planning.gateway import gateway_plan
from constructs_pd.planning.hand_over import hand_over_plan
from constructs_pd.planning.labels import labels, pod_labels, tags
from constructs_pd.planning.monitoring import monitoring_plan
from constructs_pd.planning.network_policies import network_policies
from constructs_pd.planning.observability import observability_environment, observability_plan
from constructs_pd.planning.phase import phase_plan
from constructs_pd.planning.rules import RULES
from constructs_pd.planning.scraping import pod_annotations
from constructs_pd.planning.spec import DeploymentSpec
from constructs_pd.planning.timeouts import timeouts_plan

# Read with the module, so that planning itself takes milliseconds.
load_catalog()


def plan(spec: DeploymentSpec, catalog: Catalog | None = None) -> DeploymentPlan:
    """Decide everything about a deployment.

    Args:
        spec: What the user wants.
        catalog: Facts to plan with. Default: the built-in catalogue.

    Returns:
        The plan, with its warnings in `findings`.

    Raises:
        PlanError: The deployment cannot work; carries every finding.
    """
    facts = gather(spec, catalog if catalog is not None else load_catalog())
    findings = examine(facts)
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise PlanError(findings)
    return _decide(facts, findings)


def examine(facts: Facts) -> tuple[Finding, ...]:
    """Run every rule and return what they find, in order, with the acknowledged warnings marked."""
    reasons = {acknowledge.code: acknowledge.reason for acknowledge in facts.spec.acknowledge}
    found = [finding for rule in RULES for finding in rule.findings(facts)]
    marked = (
        replace(finding, acknowledged=reasons[finding.key])
        if finding.severity is Severity.WARNING and finding.key in reasons
        else finding
        for finding in found
    )
    # A rule may say nothing where an error hides a fact from it, so only a sound specification is told.
    has_errors = any(finding.severity is Severity.ERROR for finding in found)
    unused = () if has_errors else _nothing_to_acknowledge(facts, {finding.key for finding in found})
    return in_order([*marked, *unused])


def _nothing_to_acknowledge(facts: Facts, found: set[str]) -> Iterator[Finding]:
    """Yield a warning for each acknowledged code that nothing was found under; what cannot be is PD104's."""
    for index, acknowledge in enumerate(facts.spec.acknowledge):
        if acknowledge.code not in found:
            yield NOTHING_TO_ACKNOWLEDGE.finding(
                f"acknowledge.{index}.code", f"there are 0 findings of {acknowledge.code}", "remove it"
            )


def _decide(facts: Facts, findings: tuple[Finding, ...]) -> DeploymentPlan:
    spec, image, model = facts.spec, facts.image, facts.model
    assert image is not None
    assert model is not None  # PD401 and PD205 refuse what is not known
    decode = phase_plan(facts.decode, facts)
    return DeploymentPlan(
        name=spec.name,
        namespace=spec.namespace,
        region=spec.region,
        availability_zone=spec.availability_zone,
        labels=labels(spec),
        tags=tags(spec),
        vpc_cni_uses_node_role=_vpc_cni_uses_node_role(spec),
        selector_labels={defaults.DEPLOYMENT_LABEL: spec.name},
        role_label=defaults.ROLE_LABEL,
        service_account_name=spec.name,
        service_account_annotations=spec.service_account_annotations,
        image=_image(facts, image),
        image_pull_secrets=spec.image.pull_secrets,
        versions=VersionsPlan(
            kubernetes=spec.kubernetes_version,
            kuberay=spec.kuberay_version,
            ray=image.ray_version,
            vllm=image.vllm_version,
            nixl=image.nixl_version,
        ),
        model=ModelPlan(
            served_name=spec.model.served_name or spec.model.source.rpartition("/")[2].lower(),
            source=spec.model.source,
            is_hybrid=model.attention == "hybrid",
        ),
        head=_head(spec),
        prefill=phase_plan(facts.prefill, facts),
        decode=decode,
        serve_ingress=_serve_ingress(decode.replicas),
        endpoint=_endpoint(spec),
        ports=PortsPlan(
            gcs=defaults.GCS_PORT,
            dashboard=defaults.DASHBOARD_PORT,
            serve=defaults.SERVE_PORT,
            metrics=defaults.METRICS_PORT,
            node_manager=defaults.NODE_MANAGER_PORT,
            object_manager=defaults.OBJECT_MANAGER_PORT,
            runtime_env_agent=defaults.RUNTIME_ENV_AGENT_PORT,
            dashboard_agent=defaults.DASHBOARD_AGENT_PORT,
            dashboard_agent_grpc=defaults.DASHBOARD_AGENT_GRPC_PORT,
            first_worker=defaults.FIRST_RAY_WORKER_PORT,
            last_worker=defaults.LAST_RAY_WORKER_PORT,
        ),
        timeouts=timeouts_plan(spec),
        budgets=tuple(budgets(spec)),
        nixl_backend="LIBFABRIC",
        hand_over=hand_over_plan(facts),
        upgrade_strategy="NewCluster" if spec.upgrade.strategy == "new_cluster" else "None",
        rollout=_rollout(facts),
        gcs_fault_tolerance=spec.gcs_fault_tolerance,
        network_policies=network_policies(facts),
        monitoring=monitoring_plan(facts),
        observability=observability_plan(spec),
        ray_authentication=spec.ray_authentication,
        privileged_workers=spec.privileged_workers,
        initializing_timeout_seconds=spec.initializing_timeout_seconds,
        hugging_face_token=spec.hugging_face_token,
        model_cache=spec.model_cache,
        model_cache_storage=_model_cache_storage(spec),
        eks_cluster=eks_cluster_plan(facts),
        charts=charts(facts),
        findings=findings,
    )


def _vpc_cni_uses_node_role(spec: DeploymentSpec) -> bool:
    stated = spec.nodes.vpc_cni_role
    return spec.eks_cluster is None if stated is None else stated == "node"


def _model_cache_storage(spec: DeploymentSpec) -> ModelCacheStoragePlan | None:
    if spec.model_cache is None or spec.model_cache.storage != "efs":
        return None
    return ModelCacheStoragePlan(
        storage_class=f"{spec.name}-model-cache",
        claim_gib=defaults.CLAIM_GIB,
        throughput="elastic",
        directory_permissions=defaults.CACHE_DIRECTORY_PERMISSIONS,
    )


def _image(facts: Facts, image: ImageRow) -> str:
    stated, registry = facts.spec.image, facts.registry
    repository = image.repository
    if stated.registry == "private" and image.mirrored_as is not None:
        assert registry is not None  # PD211 refuses what is not known
        repository = registry.repository(image.mirrored_as)
    digest = f"@{stated.digest}" if stated.digest else ""
    return f"{repository}:{image.tag}{digest}"


def _rollout(facts: Facts) -> tuple[RolloutPlan, ...]:
    strategy: Literal["none", "new_cluster"] = facts.spec.upgrade.strategy
    return tuple(
        RolloutPlan(change=row.change, fields=row.fields, effects=getattr(row, strategy), note=row.note)
        for row in facts.catalog.rollout.values()
    )


def _head(spec: DeploymentSpec) -> HeadPlan:
    return HeadPlan(
        pod_labels=pod_labels(spec, "head", spec.head.pod),
        pod_annotations=pod_annotations(spec, spec.head.pod),
        node_selector={**spec.head.node_selector, **dict([defaults.ARCHITECTURE_LABEL])},
        tolerations=spec.head.tolerations,
        environment={**spec.head.pod.environment, **observability_environment(spec, "head")},
        secret_environment=spec.head.pod.secret_environment,
        priority_class=spec.head.pod.priority_class,
        cpu_request_cores=defaults.HEAD_CPU_REQUEST_CORES,
        cpu_limit_cores=defaults.HEAD_CPU_LIMIT_CORES,
        memory_gib=spec.head.memory_gib,
        shared_memory_gib=defaults.HEAD_SHARED_MEMORY_GIB,
        object_store_gib=defaults.HEAD_OBJECT_STORE_GIB,
    )


def _serve_ingress(decode_replicas: int) -> ServeIngressPlan:
    return ServeIngressPlan(
        replicas=decode_replicas * defaults.INGRESSES_PER_DECODE_REPLICA,
        cpu_cores=defaults.INGRESS_CPU_CORES,
        ray_resources={defaults.INGRESS_RAY_RESOURCE: defaults.INGRESS_RESOURCE_SHARE},
    )


def _endpoint(spec: DeploymentSpec) -> EndpointPlan:
    serve_service_name = f"{spec.name}-serve-svc"
    stated = spec.endpoint.gateway
    gateway = gateway_plan(spec, stated, timeouts_plan(spec)) if stated is not None else None
    return EndpointPlan(
        service_name=spec.name,
        serve_service_name=serve_service_name,
        serve_port=defaults.SERVE_PORT,
        serve_health_path=defaults.SERVE_HEALTH_PATH,
        namespace=spec.namespace,
        external_name=gateway.host if gateway else f"{serve_service_name}.{spec.namespace}.svc.cluster.local",
        url=f"http://{spec.name}.{spec.namespace}.svc.cluster.local:{defaults.SERVE_PORT}/v1",
        balancer=balancer_plan(spec),
        conformance_job=conformance_job(spec) if spec.endpoint.conformance_job else None,
        gateway=gateway,
    )
