"""What the operator does with each kind of change, compared with what docs/rollout.md says of it.

Of each row that changes the RayService one field is tried, under both upgrade strategies, all at once. Whether Serve
takes a new application needs Ray to run, and Ray a kubelet: that part of the rows is not seen here.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from cluster.conftest import RUN
from cluster.control_plane import ControlPlane
from cluster.deployment import Deployment, deployment_of, remove_all
from cluster.kubectl import Object, wait_for
from cluster.ready import looked_twice
from constructs_pd.planning.catalog.rows import RolloutRow
from support.changes import CHANGES, COMPANIONS, CONTEXTS, ROWS, Changes
from support.rendered import only, whole_deployment
from support.specs import plan_with

STRATEGIES: dict[str, Changes] = {
    "none": {},
    "new_cluster": {"upgrade": {"strategy": "new_cluster"}, "prefill.max_nodes": 6, "decode.max_nodes": 6},
}
# What a RayCluster does; in_place of the RayService's own parts is what applying them does.
SEEN_IN_THE_CLUSTER = ("pods", "group_sizes", "tolerations")


@dataclass
class Case:
    """A change under a strategy, before and after."""

    field: str
    strategy: str
    deployment: Deployment
    before: Object | None = None


def expected(row: RolloutRow, strategy: str) -> str:
    """Return what the table says of the cluster."""
    return "second cluster" if getattr(row, strategy).get("pods") == "second_cluster" else "ignored"


def fields() -> Iterator[tuple[RolloutRow, str]]:
    """Yield each row that changes what the operator reads, with the first of its fields that can change alone."""
    for row in ROWS:
        reached = {*row.none, *row.new_cluster} & {"application", "proxies", "pods", *SEEN_IN_THE_CLUSTER}
        if reached:
            yield row, next(name for name in CHANGES if any(f"{name}.".startswith(f"{f}.") for f in row.fields))


CASES = [(row, field, strategy) for row, field in fields() for strategy in STRATEGIES]
IDS = [f"{field}-{strategy}" for _, field, strategy in CASES]


@pytest.fixture(scope="module")
def cases(live: ControlPlane) -> Iterator[dict[tuple[str, str], Case]]:
    """Every change made, and the operator given time for it."""
    made = {
        (field, strategy): _case(live, str(number), field, strategy)
        for number, (_, field, strategy) in enumerate(CASES)
    }
    try:
        for case in made.values():
            case.deployment.apply()
        for case in made.values():
            case.before = wait_for("RayCluster", partial(_cluster, case.deployment))
        for case in made.values():
            case.deployment.apply(_changed(case))
        looked_twice([case.deployment for case in made.values()])
        yield made
    finally:
        remove_all(case.deployment for case in made.values())


def _case(live: ControlPlane, name: str, field: str, strategy: str) -> Case:
    plan = plan_with(_named(f"change-{RUN}-{name}", {**CONTEXTS.get(field, {}), **STRATEGIES[strategy]}))
    return Case(field, strategy, deployment_of(plan, live))


def _changed(case: Case) -> list[Object]:
    changes = {
        **CONTEXTS.get(case.field, {}),
        **STRATEGIES[case.strategy],
        **COMPANIONS.get(case.field, {}),
        case.field: CHANGES[case.field],
    }
    return whole_deployment(plan_with(_named(case.deployment.plan.name, changes)))


def _named(name: str, changes: Changes) -> Changes:
    # Without a claim, which is not what these are about.
    return {"model_cache": None, **changes, "name": name, "namespace": name}


def _cluster(deployment: Deployment) -> Object | None:
    """Return the RayCluster that the operator holds for the service's newest."""
    service = deployment.control_plane.kubectl.get("rayservice", deployment.plan.name, deployment.namespace)
    name = service.get("status", {}).get("pendingServiceStatus", {}).get("rayClusterName")
    return next((found for found in deployment.clusters() if found["metadata"]["name"] == name), None)


def outcome(before: Object, after: Object | None) -> str:
    """Return what became of the cluster."""
    if after is None:
        return "none"
    if after["metadata"]["name"] != before["metadata"]["name"]:
        return "second cluster"
    return "ignored" if after["spec"] == before["spec"] else "updated"


@pytest.mark.parametrize(("row", "field", "strategy"), CASES, ids=IDS)
def test_the_operator_does_what_the_table_says(
    cases: dict[tuple[str, str], Case], row: RolloutRow, field: str, strategy: str
) -> None:
    case = cases[field, strategy]
    assert case.before is not None
    assert outcome(case.before, _cluster(case.deployment)) == expected(row, strategy)


def test_the_cases_are_of_both_kinds() -> None:
    outcomes = [expected(row, strategy) for row, _, strategy in CASES]
    assert outcomes.count("second cluster") > 5
    assert outcomes.count("ignored") > 15


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_worker_group_that_is_appended_reaches_the_running_cluster(live: ControlPlane, strategy: str) -> None:
    name = f"appended-{RUN}-{strategy.replace('_', '-')}"
    deployment = deployment_of(plan_with(_named(name, STRATEGIES[strategy])), live)
    try:
        deployment.apply()
        before = wait_for("RayCluster", lambda: _cluster(deployment))
        groups: list[Any] = only(deployment.manifests, "RayService")["spec"]["rayClusterConfig"]["workerGroupSpecs"]
        groups.append({**deepcopy(groups[-1]), "groupName": "more"})
        deployment.apply()
        after = wait_for("update", lambda: _updated(deployment, before))
        assert [group["groupName"] for group in after["spec"]["workerGroupSpecs"]] == ["prefill", "decode", "more"]
    finally:
        deployment.remove()


def _updated(deployment: Deployment, before: Object) -> Object | None:
    after = _cluster(deployment)
    return after if outcome(before, after) == "updated" else None
