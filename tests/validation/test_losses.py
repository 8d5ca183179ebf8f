"""What is pending after a loss is what the plan's numbers say, and its rules refuse what can be known before."""

from __future__ import annotations

import re

import pytest

from constructs_pd import PlanError
from constructs_pd.findings import Severity
from constructs_pd.planning import defaults
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.gateway import CPU_REQUEST_MILLICORES
from constructs_pd.planning.rules import RULES
from constructs_pd.planning.sizes import MILLICORES_PER_CORE
from support.losses import LOSSES, Loss
from support.specs import plan_with

IDS = [loss.loss for loss in LOSSES]


def test_the_losses_are_of_every_kind() -> None:
    assert {code for loss in LOSSES for code in loss.rules} == {"PD113", "PD122", "PD123", "PD146", "PD221"}
    assert {role for loss in LOSSES for role in loss.removed} == {"prefill", "decode", "head", "system", "zone"}
    assert {role for loss in LOSSES for role in loss.pending} == {"head", "prefill", "decode"}
    assert len(LOSSES) == len(set(IDS)) == 18


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
def test_a_rule_refuses_it_or_nothing_can_know_it_before(loss: Loss) -> None:
    assert bool(loss.rules) != bool(loss.foreseen)
    assert bool(loss.words) == bool(loss.pending)
    if loss.rules:
        with pytest.raises(PlanError) as caught:
            plan_with(loss.stated("lost"))
        assert {each.code for each in caught.value.findings if each.severity is Severity.ERROR} == {*loss.rules}
    assert loss.planned("lost").name == "lost"


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
def test_who_foresees_it_is_a_rule_of_that_name(loss: Loss) -> None:
    named = set(re.findall(r"PD\d+", loss.foreseen))
    assert named <= {rule.code for rule in RULES}
    if loss.foreseen.endswith("allows it"):
        # The rule is about it: another size of the same is refused.
        (code,) = named
        assert [other for other in LOSSES if other.rules == [code] and other.changes.keys() == loss.changes.keys()]
        plan_with(loss.stated("lost"))


def test_what_races_for_the_room_of_one_system_node_fits_it_one_way_or_the_other() -> None:
    (loss,) = [each for each in LOSSES if each.instead]
    assert (loss.pending, loss.instead) == ({"head": 1}, {"gateway": 5})
    plan = loss.planned("lost")
    assert plan.eks_cluster is not None
    row = load_catalog().system_instances[plan.eks_cluster.system_nodes.instance_type]
    room = row.allocatable_cpu_millicores - defaults.SYSTEM_RESERVE_CPU_MILLICORES
    head, pod = defaults.HEAD_CPU_REQUEST_CORES * MILLICORES_PER_CORE, CPU_REQUEST_MILLICORES
    # Five of the ten stand there already. Either the head comes first, or any of the other five.
    assert head + 5 * pod <= room < head + 6 * pod
    assert 10 * pod <= room


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
def test_what_is_predicted_follows_from_the_specification(loss: Loss) -> None:
    assert loss.predicted == loss.reckoned()
    refused_for_nothing = bool(loss.rules) and not loss.pending
    assert bool(loss.why) == (loss.predicted != loss.pending or refused_for_nothing)


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
def test_a_budget_lets_go_what_is_more_than_must_stay(loss: Loss) -> None:
    plan = loss.planned("lost")
    replicas = {"head": 1} | {phase.name: phase.replicas for phase in plan.phases}
    foreseen = {}
    for budget in plan.budgets:
        role = budget.name.rpartition("-")[2]
        foreseen[role] = max(0, replicas[role] - loss.pending.get(role, 0) - budget.min_available)
    assert loss.may_go == foreseen
