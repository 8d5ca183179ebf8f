"""Mistakes that a rule refuses, written past it: the operator or the API server refuses each as well, in its own words.

All are there at once. tests/data/control_plane/refusals.yaml says what becomes of each, and kuberay_checks.yaml which
of KubeRay's checks no rule has to mirror.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import pytest

from cluster.binaries import operator_source, operator_version
from cluster.conftest import RUN
from cluster.control_plane import ControlPlane
from cluster.deployment import remove_ray
from cluster.kubectl import NotFoundError, Object, RefusedError, wait_for
from support.kuberay_checks import CHECKS, REFUSALS, Refusal, service_past_the_rules
from support.kuberay_releases import LINES_OF

NAMESPACE = f"refusals-{RUN}"
# What validation.go checks of what is no RayService.
OF_OTHER_KINDS = {
    "ValidateRayCronJobSpec",
    "ValidateRayJobMetadata",
    "ValidateRayJobSpec",
    "ValidateRayJobStatus",
    "validateDeletionCondition",
    "validateDeletionConfiguration",
    "validateDeletionRules",
    "validateLegacyDeletionPolicies",
    "validateTTLConsistency",
}
# What a check says; one that hands on what another says, has its words with %w alone behind a colon.
SAID = re.compile(r"\b(?:fmt\.Errorf|errstd\.New)\(")
HANDED_ON = re.compile(r'is invalid: %w"')


@dataclass
class Tried:
    """A mistake as it is in the cluster: the name of its RayService, and what the API server said when applied."""

    name: str
    api_server: str = ""


@pytest.fixture(scope="module")
def tried(live: ControlPlane) -> Iterator[dict[str, Tried]]:
    """Every mistake, applied."""
    kubectl = live.kubectl
    services = {
        refusal.mistake: service_past_the_rules(refusal, f"refused-{number}", NAMESPACE)
        for number, refusal in enumerate(REFUSALS)
    }
    account = {"apiVersion": "v1", "kind": "ServiceAccount"}
    names = [f"refused-{number}" for number in range(len(REFUSALS))]
    kubectl.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}])
    kubectl.apply([{**account, "metadata": {"name": name, "namespace": NAMESPACE}} for name in names])
    made = {mistake: Tried(service["metadata"]["name"]) for mistake, service in services.items()}
    try:
        for mistake, service in services.items():
            try:
                kubectl.apply([service])
            except RefusedError as error:
                made[mistake].api_server = str(error)
        yield made
    finally:
        remove_ray(kubectl, NAMESPACE)
        kubectl.run("delete", "namespace", NAMESPACE, "--wait=false")


@pytest.mark.parametrize("refusal", REFUSALS, ids=[refusal.mistake for refusal in REFUSALS])
def test_it_is_refused_by_whom_the_table_says(live: ControlPlane, tried: dict[str, Tried], refusal: Refusal) -> None:
    if refusal.version not in ("", live.operator):
        pytest.skip(f"what KubeRay {refusal.version} does")
    one = tried[refusal.mistake]
    if refusal.by == "api_server":
        assert refusal.words in one.api_server
        return
    assert one.api_server == ""
    said = wait_for("word of the operator", partial(_outcome, live, one.name))
    assert said[0] == refusal.by
    assert refusal.words in said[1]
    if refusal.by == "operator":
        assert _clusters(live, one.name) == []


def _outcome(live: ControlPlane, name: str) -> tuple[str, str] | None:
    """Return who refuses a RayService and in which words, or that nobody does, once that is known."""
    service = live.kubectl.get("rayservice", name, NAMESPACE)
    for condition in service.get("status", {}).get("conditions", []):
        if condition["reason"] == "ValidationFailed":
            return "operator", condition["message"]
    pods = [pod for cluster in _clusters(live, name) for pod in _pods(live, cluster)]
    return ("nobody", "") if len(pods) == 3 else None  # a head and a worker of each phase


def _pods(live: ControlPlane, cluster: Object) -> list[Object]:
    return live.kubectl.list("pods", NAMESPACE, f"ray.io/cluster={cluster['metadata']['name']}")


def _clusters(live: ControlPlane, name: str) -> list[Object]:
    return live.kubectl.list("rayclusters", NAMESPACE, f"ray.io/originated-from-cr-name={name}")


def test_a_namespace_of_64_characters_is_refused_too(live: ControlPlane) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n" * 64}}
    with pytest.raises(RefusedError, match="must be no more than 63"):  # PD102
        live.kubectl.apply([namespace])
    with pytest.raises(NotFoundError):
        live.kubectl.run("get", "namespace", "n" * 64)


def test_the_table_has_every_check_of_the_operator_here() -> None:
    source = operator_source() / "controllers" / "ray" / "utils" / "validation.go"
    lines = source.read_text(encoding="utf-8").splitlines()
    found: dict[int, str] = {}
    function = ""
    for number, line in enumerate(lines, 1):
        start = re.match(r"func (\w+)\(", line)
        function = start[1] if start else function
        if function not in OF_OTHER_KINDS and SAID.search(line) and not _hands_on(function, line):
            found[number] = " ".join(lines[number - 1 : number + 2])
    lines_of = LINES_OF[operator_version()]
    named = {getattr(check, lines_of): check.says for check in CHECKS if getattr(check, lines_of) is not None}
    assert set(found) == set(named)
    for number, says in named.items():
        assert says.replace('"', '\\"') in found[number], number


def _hands_on(function: str, line: str) -> bool:
    return bool(HANDED_ON.search(line)) and "RayVersion" not in line
