"""No rule that mirrors one of KubeRay's validations is missing or invented."""

from __future__ import annotations

from collections import Counter

import pytest

from constructs_pd import PlanError, parse_spec, plan
from constructs_pd.planning.rules import RULES
from support.changes import CATALOG, CHANGES, with_another
from support.kuberay_checks import CHECKS, HOLDS, REFUSALS, Check, Refusal, found, service_past_the_rules, sound_plan
from support.kuberay_releases import LINES_OF
from support.rendered import Manifest, only, whole_deployment
from support.specs import VARIANTS, changed, reference_data, spec_with

BY_LINE = {check.line: check for check in CHECKS}
IDS = [refusal.mistake for refusal in REFUSALS]


@pytest.fixture(scope="module")
def services() -> dict[str, Manifest]:
    """The RayService of every variant, of a change of every field, and of the longest name."""
    deployments = {**VARIANTS, **{field: with_another(field) for field in CHANGES}, "longest name": {"name": "n" * 47}}
    plans = {name: plan(spec_with(changes), CATALOG) for name, changes in deployments.items()}
    return {name: only(whole_deployment(planned), "RayService") for name, planned in plans.items()}


def test_every_check_is_named_once_with_one_verdict() -> None:
    assert len(BY_LINE) == len(CHECKS) == 99
    assert sum(check.line_before is not None for check in CHECKS) == 51
    for check in CHECKS:
        assert [check.rule, check.needs, check.holds].count(None) == 2, check


@pytest.mark.parametrize("check", [check for check in CHECKS if check.needs], ids=lambda check: f"line-{check.line}")
def test_no_plan_renders_what_a_check_needs_to_fail(services: dict[str, Manifest], check: Check) -> None:
    assert [name for name, service in services.items() if [*found(service, check.needs or "")]] == []


@pytest.mark.parametrize("fact", HOLDS)
def test_a_fact_that_keeps_a_check_from_failing_holds(services: dict[str, Manifest], fact: str) -> None:
    assert {name for name, service in services.items() if not HOLDS[fact](service, _cluster(service))} == set()
    assert any(check.holds == fact for check in CHECKS)


def test_every_fact_is_known() -> None:
    assert {check.holds for check in CHECKS if check.holds} == set(HOLDS)


def test_a_pointer_finds_what_is_rendered(services: dict[str, Manifest]) -> None:
    service = services["reference"]
    assert [*found(service, "/spec/rayClusterConfig/workerGroupSpecs/*/groupName")] == ["prefill", "decode"]
    annotated = {"metadata": {"annotations": {"ray.io/ft-enabled": "true"}}}
    assert [*found(annotated, "/metadata/annotations/ray.io~1ft-enabled")] == ["true"]


def test_every_rule_that_mirrors_a_check_has_a_mistake_that_trips_it() -> None:
    tripped = {refusal.line for refusal in REFUSALS if refusal.by == "operator"}
    assert {check.line for check in CHECKS if check.rule} == tripped
    for refusal in REFUSALS:
        if refusal.line is not None:
            assert BY_LINE[refusal.line].rule == refusal.rules[0], refusal.mistake


def test_the_mistakes_are_of_every_kind() -> None:
    assert Counter(refusal.by for refusal in REFUSALS) == {"operator": 18, "nobody": 7, "api_server": 2}
    assert {code for refusal in REFUSALS for code in refusal.rules} <= {rule.code for rule in RULES} | {"PD004"}
    assert all(bool(refusal.why) == (refusal.by == "nobody") for refusal in REFUSALS)
    assert all(bool(refusal.words) == (refusal.by != "nobody") for refusal in REFUSALS)


def test_a_mistake_of_one_release_is_tried_in_every_other_too() -> None:
    for refusal in REFUSALS:
        made_by = (refusal.context, refusal.changes, refusal.patch)
        same = [each for each in REFUSALS if (each.context, each.changes, each.patch) == made_by]
        assert [each.version for each in same] == [""] or {each.version for each in same} == set(LINES_OF)
        if refusal.version:
            assert refusal.mistake.endswith(f"with KubeRay {refusal.version.removeprefix('v')}")


@pytest.mark.parametrize("refusal", REFUSALS, ids=IDS)
def test_the_rule_refuses_the_mistake(refusal: Refusal) -> None:
    sound = sound_plan(refusal, "sound", "inference")
    with pytest.raises(PlanError) as caught:
        plan(parse_spec(changed(reference_data(), {"model_cache": None, **refusal.context, **refusal.changes})))
    assert refusal.rules[0] in {finding.code for finding in caught.value.findings}
    past = service_past_the_rules(refusal, "sound", "inference")
    assert past != only(whole_deployment(sound), "RayService")


def _cluster(service: Manifest) -> Manifest:
    cluster: Manifest = service["spec"]["rayClusterConfig"]
    return cluster
