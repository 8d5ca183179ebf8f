"""KubeRay's own checks of a RayService beside the rules, and mistakes that are written past the rules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import yaml

from constructs_pd import DeploymentPlan
from constructs_pd.planning.rules import RULES
from support.rendered import Manifest, only, whole_deployment
from support.specs import ROOT, plan_with

DATA = ROOT / "tests" / "data" / "control_plane"


@dataclass(frozen=True)
class Check:
    """A check of validation.go; what each field means stands in kuberay_checks.yaml."""

    function: str
    line: int
    line_before: int | None
    says: str
    rule: str | None = None
    needs: str | None = None
    holds: str | None = None


@dataclass(frozen=True)
class Refusal:
    """A mistake and what became of it; what each field means stands in refusals.yaml."""

    mistake: str
    rules: list[str]
    changes: dict[str, Any]
    by: str
    words: str = ""
    why: str = ""
    version: str = ""
    line: int | None = None
    context: dict[str, Any] = field(default_factory=dict)
    patch: dict[str, Any] = field(default_factory=dict)


def _checks() -> Iterator[Check]:
    data = yaml.safe_load((DATA / "kuberay_checks.yaml").read_text(encoding="utf-8"))
    for function, rows in data.items():
        yield from (Check(function=function, **row) for row in rows)


def _refusals() -> Iterator[Refusal]:
    yield from (Refusal(**row) for row in yaml.safe_load((DATA / "refusals.yaml").read_text(encoding="utf-8")))


CHECKS = tuple(_checks())
REFUSALS = tuple(_refusals())


@contextmanager
def passing(codes: list[str]) -> Iterator[None]:
    """Have the planner say nothing of some rules."""
    spoken = tuple(rule for rule in RULES if rule.code not in codes)
    with mock.patch("constructs_pd.planning.resolve.RULES", spoken):
        yield


def sound_plan(refusal: Refusal, name: str, namespace: str) -> DeploymentPlan:
    """Return the plan before the mistake."""
    return plan_with(_changes(refusal, name, namespace))


def service_past_the_rules(refusal: Refusal, name: str, namespace: str) -> Manifest:
    """Return the RayService with the mistake, as it is rendered when its rules say nothing."""
    changes = _changes(refusal, name, namespace)
    if not refusal.patch:
        with passing(refusal.rules):
            return only(whole_deployment(plan_with({**changes, **refusal.changes})), "RayService")
    service = only(whole_deployment(plan_with(changes)), "RayService")
    for pointer, value in refusal.patch.items():
        *parents, last = pointer.split("/")[1:]
        place: Any = service
        for parent in parents:
            place = place[int(parent) if isinstance(place, list) else parent]
        place[last] = value
    return service


def _changes(refusal: Refusal, name: str, namespace: str) -> dict[str, Any]:
    return {"model_cache": None, **refusal.context, "name": name, "namespace": namespace}


def found(manifest: Any, pointer: str) -> Iterator[Any]:
    """Yield what a JSON pointer with * for any key or index leads to."""
    step, _, rest = pointer.removeprefix("/").partition("/")
    step = step.replace("~1", "/")
    inside = dict(enumerate(manifest)) if isinstance(manifest, list) else manifest
    if not isinstance(inside, dict):
        return
    for key, value in inside.items():
        if step in ("*", key):
            yield from found(value, rest) if rest else iter([value])


def _groups(cluster: Manifest) -> list[Manifest]:
    return [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]


def _one_container(service: Manifest, cluster: Manifest) -> bool:
    return all(len(group["template"]["spec"]["containers"]) == 1 for group in _groups(cluster))


def _sizes(service: Manifest, cluster: Manifest) -> bool:
    groups = cluster["workerGroupSpecs"]
    return all(1 <= group["minReplicas"] == group["replicas"] == group["maxReplicas"] for group in groups)


def _cluster_name(service: Manifest, cluster: Manifest) -> bool:
    # KubeRay 1.7.0 util.go, GenerateRayClusterName: the RayService's name, a hyphen and five letters or digits.
    return len(service["metadata"]["name"]) + len("-abcde") <= 53


def _resources_once(service: Manifest, cluster: Manifest) -> bool:
    start = {"num-cpus", "num-gpus", "memory", "resources"}
    return not any(start & set(group["rayStartParams"]) and group.get("resources") for group in _groups(cluster))


def _no_labels(service: Manifest, cluster: Manifest) -> bool:
    return not any("labels" in group or "labels" in group["rayStartParams"] for group in _groups(cluster))


def _redis(service: Manifest, cluster: Manifest) -> bool:
    return bool(cluster.get("gcsFaultToleranceOptions", {}).get("backend", "redis") == "redis")


def _autoscaler_off(service: Manifest, cluster: Manifest) -> bool:
    return cluster["enableInTreeAutoscaling"] is False


def _version(service: Manifest, cluster: Manifest) -> bool:
    return [part.isdigit() for part in cluster["rayVersion"].split(".")] == [True] * 3


# What is true of every rendered RayService, so that a check cannot fail.
HOLDS = {
    "autoscaler off": _autoscaler_off,
    "cluster name": _cluster_name,
    "no labels of Ray": _no_labels,
    "one container": _one_container,
    "redis": _redis,
    "resources once": _resources_once,
    "sizes": _sizes,
    "version": _version,
}
