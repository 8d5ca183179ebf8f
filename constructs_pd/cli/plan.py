"""`constructs-pd plan`: what is built of a specification, side by side for both phases."""

from __future__ import annotations

import json
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any, Final

from constructs_pd.cli import output
from constructs_pd.cli.hand_over import print_hand_over
from constructs_pd.cli.output import Column, Group
from constructs_pd.cli.status import ERRORS
from constructs_pd.findings import Finding, PlanError
from constructs_pd.planning.deployment_plan import DeploymentPlan, PhasePlan
from constructs_pd.planning.gpu_memory import GIB
from constructs_pd.planning.spec_file import plan_file


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
        # Through pydantic's own JSON, which has no NaN.
        data = json.loads(planned.model_dump_json(exclude={"findings"}))
        output.as_json({"plan": data, "findings": _as_data(planned.findings)})
    else:
        _print_plan(planned)
    return 0


def _print_plan(planned: DeploymentPlan) -> None:
    output.table((Column(""), Column("", may_break=True)), [Group("", list(_overview(planned).items()))])
    output.line()
    columns = (Column(""), Column("prefill", may_break=True), Column("decode", may_break=True))
    output.table(columns, [_side_by_side(title, facts, planned) for title, facts in SECTIONS])
    output.line()
    print_hand_over(planned.hand_over)
    output.line()
    _print_findings(planned.findings)


def _overview(planned: DeploymentPlan) -> dict[str, str]:
    versions = planned.versions
    return {
        "deployment": f"{planned.name} in namespace {planned.namespace}",
        "model": f"{planned.model.source}, served as {planned.model.served_name}",
        "image": planned.image,
        "versions": (
            f"Kubernetes {versions.kubernetes}, KubeRay {versions.kuberay}, Ray {versions.ray}, "
            f"vLLM {versions.vllm}, NIXL {versions.nixl}"
        ),
        "zone": f"{planned.availability_zone} of {planned.region}",
        "EKS cluster": "an existing one" if planned.eks_cluster is None else "made for it",
        "endpoint": planned.endpoint.url,
    }


def _nodes(phase: PhasePlan) -> dict[str, str]:
    nodes = phase.nodes
    return {
        "nodes": f"{phase.replicas} x {nodes.instance_type}",
        "fewest to most nodes": f"{nodes.min_nodes} to {nodes.max_nodes}",
        "GPUs of a node": str(phase.gpus_per_node),
        "EFA interfaces of a node": str(phase.efa_per_node),
        "CPU of a pod": f"{phase.cpu_cores} cores",
        "memory of a pod": f"{phase.memory_gib} GiB",
    }


def _engine(phase: PhasePlan) -> dict[str, str]:
    stated = phase.engine_arguments
    context, sequences = stated.get("max_model_len"), stated.get("max_num_seqs")
    share = stated.get("gpu_memory_utilization")
    return {
        "GPUs of an engine": f"{phase.tensor_parallel} (tensor parallel)",
        "longest context": f"{context:,} tokens" if isinstance(context, int) else "the model's",
        "sequences at once": f"{sequences:,}" if isinstance(sequences, int) else "vLLM's default",
        "share of the memory": f"{share:.0%}" if isinstance(share, float) else "vLLM's default",
    }


def _memory(phase: PhasePlan) -> dict[str, str]:
    memory = phase.memory
    if memory is None:
        return {"usable by vLLM": "not known (PD225)"}
    return {
        "usable by vLLM": _gib("", memory.usable_bytes),
        "weights": _gib("-", memory.weight_bytes),
        "activations": _gib("-", memory.activation_bytes),
        "libraries, CUDA graphs": _gib("-", memory.other_bytes),
        "KV cache": _gib("=", memory.kv_cache_bytes),
        "one longest request": _gib("", memory.request_bytes),
        "longest requests at once": f"  {memory.requests:,.1f}",
        "tokens in all": f"  {memory.kv_cache_tokens:,}",
    }


# What the table shows of a phase, from top to bottom. A new section is one line here and a function like those above.
SECTIONS: Final[tuple[tuple[str, Callable[[PhasePlan], dict[str, str]]], ...]] = (
    ("Nodes and pods", _nodes),
    ("Engines", _engine),
    ("Memory of each GPU, estimated", _memory),
)


def _side_by_side(title: str, facts: Callable[[PhasePlan], dict[str, str]], planned: DeploymentPlan) -> Group:
    """Return a section's rows; a fact that one phase lacks is left empty there."""
    prefill, decode = (facts(phase) for phase in planned.phases)
    names = [*prefill, *(name for name in decode if name not in prefill)]
    return Group(title, [(name, prefill.get(name, ""), decode.get(name, "")) for name in names])


def _print_findings(findings: tuple[Finding, ...]) -> None:
    still_open = [finding for finding in findings if finding.acknowledged is None]
    accepted = Counter((finding.key, finding.acknowledged) for finding in findings if finding.acknowledged is not None)
    output.line(f"{_count(len(still_open))}, {accepted.total()} more acknowledged")
    for finding in still_open:
        output.finding(finding)
    for (key, reason), count in accepted.items():
        times = f" ({count} times)" if count > 1 else ""
        output.line(f"{key} acknowledged{times}: {reason}", style="dim")


def _count(number: int) -> str:
    return f"{number} warning" if number == 1 else f"{number} warnings"


def _gib(sign: str, size_bytes: int) -> str:
    return f"{sign:1}{size_bytes / GIB:8,.2f} GiB"


def _as_data(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    return [asdict(finding) for finding in findings]
