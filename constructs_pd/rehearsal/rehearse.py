"""Rehearses a plan: deploys its own Serve application on this machine, looks at it, and leaves nothing behind."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import yaml

from constructs_pd.manifests.serve_config import serve_config_v2
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.rehearsal import tiny_model
from constructs_pd.rehearsal.conformance import require_conformance_suite
from constructs_pd.rehearsal.context import context_tokens
from constructs_pd.rehearsal.cpu import Machine, on_this_machine
from constructs_pd.rehearsal.engines import Engine, engine, other_versions
from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.exchange import NoAnswerError
from constructs_pd.rehearsal.faults import FAULTS
from constructs_pd.rehearsal.gateway import require_haproxy
from constructs_pd.rehearsal.local_ray import LocalRay, start_ray
from constructs_pd.rehearsal.look import looked_at
from constructs_pd.rehearsal.losses import require_losses
from constructs_pd.rehearsal.machine import needed_gib, require_linux, require_memory
from constructs_pd.rehearsal.nodes import planned_nodes
from constructs_pd.rehearsal.observability import write_observability_files
from constructs_pd.rehearsal.options import Options
from constructs_pd.rehearsal.ports import free_ports, free_range, require_free
from constructs_pd.rehearsal.report import Report
from constructs_pd.rehearsal.steps import Steps
from constructs_pd.rehearsal.supervised import Supervised

MODEL: Final = "model"
_MODEL_SECONDS: Final = 300.0
_POLL_SECONDS: Final = 0.5


def rehearse(plan: DeploymentPlan, options: Options, tell: Callable[[str], None]) -> Report:
    """Rehearse a plan and report. Every process has ended and every file is gone afterwards, whatever happens.

    Args:
        plan: The plan.
        options: How.
        tell: Where progress goes, a line at a time.

    Raises:
        RehearsalError: It cannot start or go on.
    """
    require_linux()
    require_conformance_suite()
    chosen = engine(options.engine, plan.versions.vllm)
    for difference in other_versions(chosen, plan.versions):
        tell(difference)
    nodes = planned_nodes(plan)
    require_memory(needed_gib(nodes, options.engine, max(phase.tensor_parallel for phase in plan.phases)))
    if options.port is not None:
        require_free(options.port)
    require_losses(options, context_tokens(plan))
    require_haproxy(plan)
    steps = Steps(tell)
    with Supervised() as supervised:
        document = local_document(plan, options, chosen, supervised, steps)
        with steps.step(f"start {len(nodes)} Ray nodes"):
            ray = start_ray(nodes, chosen.python, chosen.environment, supervised, tell)
        with ended_nodes_named(ray, supervised):
            found = looked_at(plan, document, ray, options, steps, supervised)
        with steps.step("clean up"):
            supervised.close()
    return Report(
        plan.name, options.engine, tuple(steps.done), found.placed, tuple(found.checks), tuple(found.survived)
    )


@contextmanager
def ended_nodes_named(ray: LocalRay, supervised: Supervised) -> Iterator[None]:
    """Name a Ray node that has ended where something else fails because of it.

    Raises:
        RehearsalError: Instead of what was raised, if a node has ended or Ray does not answer.
    """
    try:
        yield
    except (RehearsalError, NoAnswerError) as error:
        ended = [node.planned.name for node in ray.nodes.values() if not supervised.runs(node.process)]
        if ended:
            log = supervised.last_lines(ended[0])
            raise RehearsalError(f"Ray's node {ended[0]} ended:\n{log}", "see Ray's message above") from error
        if isinstance(error, NoAnswerError):
            raise RehearsalError(
                f"Ray does not answer: {error}", "try again when the machine has less to do"
            ) from error
        raise


def local_document(
    plan: DeploymentPlan, options: Options, chosen: Engine, supervised: Supervised, steps: Steps
) -> dict[str, Any]:
    """Return the plan's own Serve configuration, changed for this machine and with the fault that is to be planted."""
    model_folder = supervised.folder / MODEL if chosen.name == "vllm" else None
    if model_folder is not None:
        with steps.step("make a tiny model"):
            _make_model(plan, chosen, supervised)
    write_observability_files(plan, supervised.folder)
    serve_port = options.port or free_ports(1)[0]
    taken = [range(serve_port, serve_port + 1)]
    prefill = free_range(plan.prefill.replicas * plan.prefill.tensor_parallel, taken)
    decode = free_range(plan.decode.replicas * plan.decode.tensor_parallel, [*taken, prefill])
    machine = Machine(
        serve_port=serve_port,
        side_channel_ports={"prefill": prefill.start, "decode": decode.start},
        model_folder=None if model_folder is None else str(model_folder),
    )
    document = on_this_machine(yaml.safe_load(serve_config_v2(plan)), machine)
    return document if options.plant is None else FAULTS[options.plant](document)


def _make_model(plan: DeploymentPlan, chosen: Engine, supervised: Supervised) -> None:
    positions = max(int(str(phase.engine_arguments["max_model_len"])) for phase in plan.phases)
    kv_heads = max(2, *(phase.tensor_parallel for phase in plan.phases))
    folder = supervised.folder / MODEL
    command = [str(chosen.python), "-P", tiny_model.__file__, str(folder), str(positions), str(kv_heads)]
    process = supervised.start(command, chosen.environment, MODEL)
    deadline = time.monotonic() + _MODEL_SECONDS
    while supervised.runs(process):
        if time.monotonic() > deadline:
            raise RehearsalError(f"no model after {_MODEL_SECONDS:.0f} s", "try again when the machine has less to do")
        time.sleep(_POLL_SECONDS)
    if not list(folder.glob("*.safetensors")):
        raise RehearsalError(f"no model was made:\n{supervised.last_lines(MODEL)}", "see the message above")
