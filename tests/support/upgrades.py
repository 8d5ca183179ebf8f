"""What was predicted of a change, and what the operator did with it."""

from __future__ import annotations

from functools import cache
from typing import Any, Final, Literal

import yaml

from constructs_pd import DeploymentPlan
from constructs_pd.planning.catalog.rows import RolloutRow
from support.changes import Changes
from support.kuberay_checks import DATA
from support.specs import plan_with

Effects = dict[str, str]
Strategy = Literal["none", "new_cluster"]
STRATEGIES: Final[tuple[Strategy, ...]] = ("none", "new_cluster")
_DATA: Final[dict[str, Any]] = yaml.safe_load((DATA / "upgrades.yaml").read_text(encoding="utf-8"))
# By field and strategy.
OBSERVED: Final[dict[str, dict[str, Effects]]] = _DATA["observed"]
# Where the operator does something else than a prediction's word says, and why both are right.
REASONS: Final = {(each["part"], each["predicted"], each["observed"]): each["why"] for each in _DATA["reasons"]}
# The tests of an upgrade by a second cluster.
SECOND_CLUSTER: Final[list[str]] = [each["test"] for each in _DATA["second_cluster"]]
UPGRADES: Final[dict[Strategy, Changes]] = {
    "none": {},
    "new_cluster": {"upgrade": {"strategy": "new_cluster"}, "prefill.max_nodes": 6, "decode.max_nodes": 6},
}
# What CloudFormation does.
NOT_OF_KUBERNETES: Final = frozenset(("nodes", "cluster"))


def predicted(field: str, strategy: Strategy) -> Effects:
    """Return what a plan says of a field's change, as far as Kubernetes has to do with it."""
    (row,) = [
        row for row in _plan(strategy).rollout if any(f"{field}.".startswith(f"{named}.") for named in row.fields)
    ]
    return {part: effect for part, effect in row.effects.items() if part not in NOT_OF_KUBERNETES}


@cache
def _plan(strategy: Strategy) -> DeploymentPlan:
    return plan_with(UPGRADES[strategy])


def kind(row: RolloutRow) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Return the kind of a row: what happens to each part under each strategy."""
    return tuple(tuple(sorted(_of_kubernetes(row, strategy).items())) for strategy in STRATEGIES)


def _of_kubernetes(row: RolloutRow, strategy: Strategy) -> Effects:
    return {part: effect for part, effect in getattr(row, strategy).items() if part not in NOT_OF_KUBERNETES}
