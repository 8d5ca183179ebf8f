"""`constructs-pd plan`: what is built of a specification, side by side for both phases."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from constructs_pd.cli import output
from constructs_pd.findings import Finding, PlanError, render
from constructs_pd.planning.deployment_plan import DeploymentPlan, PhasePlan
from constructs_pd.planning.spec_file import plan_file

ERRORS = 1


def plan_command(stated: Namespace) -> int:
    """Plan a specification and print the plan, or everything that is wrong with it."""
    try:
        planned = plan_file(stated.specification)
    except PlanError as error:
        if stated.json:
            output.as_json({"plan": None, "findings": _as_data(error.findings)})
        else:
            output.complaint(str(error))
        return ERRORS
    if stated.json:
        data = planned.model_dump(mode="json", exclude={"findings"})
        output.as_json({"plan": data, "findings": _as_data(planned.findings)})
        return 0
    output.line(f"{planned.name}: {planned.model.source} in {planned.availability_zone}, {planned.endpoint.url}")
    output.table("Phases", ("", "prefill", "decode"), _rows(planned))
    open_warnings = render(planned.findings)
    if open_warnings:
        output.line(open_warnings)
    return 0


def _rows(planned: DeploymentPlan) -> list[tuple[str, str, str]]:
    prefill, decode = (_facts(phase) for phase in planned.phases)
    return [(name, prefill[name], decode[name]) for name in prefill]


def _facts(phase: PhasePlan) -> dict[str, str]:
    return {
        "nodes": f"{phase.replicas} x {phase.nodes.instance_type}",
        "GPUs of an engine": f"{phase.tensor_parallel} of {phase.gpus_per_node}",
        "EFA interfaces of a node": str(phase.efa_per_node),
        "CPU of a pod": f"{phase.cpu_cores} cores",
        "memory of a pod": f"{phase.memory_gib} GiB",
        "context": f"{phase.engine_arguments['max_model_len']:,} tokens",
        "hand-over": phase.kv_role,
    }


def _as_data(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    return [asdict(finding) for finding in findings]
