"""Looks at a plan's application while it runs: where it is, what it does, and whether it answers rightly."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from constructs_pd.manifests.serve_config import APPLICATION_NAME
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.rehearsal import checks
from constructs_pd.rehearsal.checks import Check
from constructs_pd.rehearsal.conformance import conformance_checks
from constructs_pd.rehearsal.context import context_tokens
from constructs_pd.rehearsal.cpu import aggregated
from constructs_pd.rehearsal.dashboard import Replica, replicas
from constructs_pd.rehearsal.deploy import deploy
from constructs_pd.rehearsal.gateway_checks import through_gateway
from constructs_pd.rehearsal.hold import hold
from constructs_pd.rehearsal.local_ray import LocalRay, resources_text
from constructs_pd.rehearsal.lose import Served
from constructs_pd.rehearsal.options import Options
from constructs_pd.rehearsal.questions import Answer, Question, ask, questions
from constructs_pd.rehearsal.report import Placed
from constructs_pd.rehearsal.steps import Steps
from constructs_pd.rehearsal.supervised import Supervised
from constructs_pd.rehearsal.survival import Survival, checks_of, survival
from constructs_pd.rehearsal.work import Work, work_done

#: Turns of questions until every replica has been asked something: Serve chooses between two at random.
MOST_TURNS: Final = 12
#: Agents export what an engine counts a moment later.
COUNTING_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.5


@dataclass
class Found:
    """What was seen.

    Attributes:
        checks: What was looked at.
        placed: Replicas.
        survived: What was lost on purpose.
    """

    checks: list[Check] = field(default_factory=list)
    placed: tuple[Placed, ...] = ()
    survived: list[Survival] = field(default_factory=list)


def looked_at(
    plan: DeploymentPlan,
    document: dict[str, Any],
    ray: LocalRay,
    options: Options,
    steps: Steps,
    supervised: Supervised,
) -> Found:
    """Deploy a configuration, look at it, and compare it with the same engine serving aggregated.

    Raises:
        RehearsalError: It cannot be deployed.
    """
    port: int = document["http_options"]["port"]
    context = context_tokens(plan)
    with steps.step("deploy prefill and decode"):
        deploy(ray.dashboard, document, options.timeout_seconds, steps.tell)
    state = ray.dashboard.serve()
    running = replicas(state, APPLICATION_NAME)
    found = Found([checks.placement(running, ray), checks.roles(_deployed(state))])
    with steps.step("ask prefill and decode"):
        asked, answers, work = _asked(plan, port, context, running, ray)
    found.checks += [
        checks.answered(asked, answers),
        checks.prefilled(work, running, ray),
        checks.decoded(work, running, ray, answers),
        checks.handed_over(work, running, answers),
    ]
    found.placed = _placed(running, work, ray)
    if all(answer.error for answer in answers):
        return found
    through = None
    if plan.endpoint.gateway is not None:
        with steps.step("ask through the gateway"):
            through = through_gateway(plan.endpoint.gateway, port, asked[-1], supervised)
        found.checks += through.checks
    with steps.step("check the API's conformance"):
        found.checks += conformance_checks(plan, port, steps.tell)
    served = Served(ray, supervised, port, plan.model.served_name, context, options.timeout_seconds)
    lost = [served.lose(loss, index, steps) for index, loss in enumerate(options.lose)]
    if options.hold:
        for failed in (check for check in found.checks if not check.passed):
            steps.tell(f"FAILED {failed.name}: {failed.detail}")
        hold(plan.model.served_name, port, through, ray, supervised, steps.tell)
        return found
    with steps.step("deploy the same engine aggregated"):
        deploy(ray.dashboard, aggregated(document), options.timeout_seconds, steps.tell)
    with steps.step("ask the aggregated engine"):
        found.checks.append(checks.equal_answers(asked, answers, ask(port, asked)))
        for each in lost:
            right = ask(port, [request.question for request in each.requests])
            found.survived.append(survival(each, right))
            found.checks += checks_of(found.survived[-1])
    return found


def _deployed(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration that Serve says it runs."""
    return {"applications": [state["applications"][APPLICATION_NAME]["deployed_app_config"]]}


def _asked(
    plan: DeploymentPlan, port: int, context_tokens: int, running: Sequence[Replica], ray: LocalRay
) -> tuple[list[Question], list[Answer], dict[str, Work]]:
    """Ask until every engine has done something, and return what was asked, answered and done."""
    asked: list[Question] = []
    answers: list[Answer] = []
    work: dict[str, Work] = {}
    engines = {replica.replica_id for replica in running if checks.phase_of(replica.deployment)}
    for turn in range(MOST_TURNS):
        new = questions(plan.model.served_name, context_tokens, turn)
        asked += new
        answers += ask(port, new)
        work = _counted(ray, engines, answers)
        if engines <= work.keys() or any(answer.error for answer in answers):
            break
    return asked, answers, work


def _counted(ray: LocalRay, engines: Collection[str], answers: Sequence[Answer]) -> dict[str, Work]:
    """Return the engines' work once their agents have exported the last of it; agents remember engines that ended."""
    answered = sum(answer.completion_tokens for answer in answers)
    deadline = time.monotonic() + (COUNTING_SECONDS if answered else 0)
    while True:
        work = {engine: done for engine, done in work_done(ray).items() if engine in engines}
        generated = sum(done.generated_tokens for done in work.values() if done.handed_over)
        computed = sum(done.computed for done in work.values() if not done.handed_over)
        complete = generated >= answered and computed >= sum(answer.prompt_tokens for answer in answers)
        if complete or time.monotonic() > deadline:
            return work
        time.sleep(_POLL_SECONDS)


def _placed(running: Sequence[Replica], work: Mapping[str, Work], ray: LocalRay) -> tuple[Placed, ...]:
    rows = []
    for replica in running:
        done = work.get(replica.replica_id, Work(replica.node_id))
        node = ray.nodes[replica.node_id].planned
        rows.append(
            Placed(
                deployment=replica.deployment,
                node=node.name,
                offers=resources_text(node),
                computed_tokens=done.computed,
                handed_over_tokens=done.handed_over,
                transferred_bytes=done.transferred_bytes,
                generated_tokens=done.generated_tokens,
            )
        )
    return tuple(sorted(rows, key=lambda row: (row.node, row.deployment)))
