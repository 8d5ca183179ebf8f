"""Whether what was applied is what serves."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from constructs_pd.conformance import rolled_out
from constructs_pd.conformance.rolled_out import NotRolledOutError, RayService
from support.kubernetes_stub import NAME, NAMESPACE, KubernetesStub, kubernetes

Change = Callable[[KubernetesStub], Any]


def said(folder: Path, monkeypatch: pytest.MonkeyPatch, stub: KubernetesStub, name: str = NAME) -> str | None:
    """Return why the RayService is not rolled out, or None where it is."""
    with kubernetes(stub, folder) as environment:
        for key, value in environment.items():
            monkeypatch.setenv(key, value)
        try:
            RayService(folder, NAMESPACE, name).require_rolled_out()
        except NotRolledOutError as error:
            return str(error)
    return None


def condition(stub: KubernetesStub, name: str) -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = [each for each in stub.service["status"]["conditions"] if each["type"] == name]
    return found


def applications(stub: KubernetesStub) -> dict[str, Any]:
    found: dict[str, Any] = stub.service["status"]["activeServiceStatus"]["applicationStatuses"]
    return found


def test_what_serves_as_it_was_applied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(tmp_path, monkeypatch, KubernetesStub()) is None


NOT_YET: dict[str, tuple[Change, str]] = {
    "a change that the operator has not seen": (
        lambda stub: stub.service["metadata"].update(generation=4),
        "the operator has seen generation 3 of the RayService, not yet 4",
    ),
    "a RayService that the operator has never seen": (
        lambda stub: stub.service.pop("status"),
        "seen generation 0 of the RayService, not yet 3",
    ),
    "a second cluster with another image": (
        lambda stub: condition(stub, "UpgradeInProgress").update(status="True", message="both clusters exist"),
        "UpgradeInProgress is True: both clusters exist",
    ),
    "no endpoint": (
        lambda stub: condition(stub, "Ready").update(status="False", message="dropped to 0"),
        "Ready is False: dropped to 0",
    ),
    "an application that is replaced in place": (
        lambda stub: applications(stub)["llm"].update(status="DEPLOYING"),
        "Serve applications are not RUNNING: {'llm': 'DEPLOYING'}",
    ),
    "no application": (lambda stub: applications(stub).clear(), "there is none"),
    "no condition": (lambda stub: stub.service["status"].pop("conditions"), "UpgradeInProgress is unknown: no message"),
    "an image that the upgrade strategy none keeps from the pods": (
        lambda stub: stub.cluster["spec"]["workerGroupSpecs"][1]["template"]["spec"]["containers"][0].update(
            image="a:1"
        ),
        "the pods of decode run a:1, not 763104351884",
    ),
    "another image of the head": (
        lambda stub: stub.cluster["spec"]["headGroupSpec"]["template"]["spec"]["containers"][0].update(image="a:1"),
        "the pods of head run a:1, not 763104351884",
    ),
    "a group of workers that is missing": (
        lambda stub: stub.cluster["spec"]["workerGroupSpecs"].pop(),
        "the pods of decode run nothing, not 763104351884",
    ),
    "a status that is a text": (lambda stub: stub.service.update(status="x"), "has another shape: AttributeError("),
    "no list of groups": (
        lambda stub: stub.cluster["spec"].update(workerGroupSpecs=None),
        "has another shape: TypeError(",
    ),
    "another shape": (lambda stub: stub.cluster.pop("spec"), f"RayService {NAME} has another shape: KeyError('spec')"),
}


@pytest.mark.parametrize("case", NOT_YET)
def test_what_is_not_there_yet(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change, message = NOT_YET[case]
    change(stub := KubernetesStub())
    assert message in str(said(tmp_path, monkeypatch, stub))


def test_a_worker_group_of_the_cluster_alone_is_no_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub = KubernetesStub()
    groups = stub.cluster["spec"]["workerGroupSpecs"]
    groups.append({**groups[0], "groupName": "other"})
    assert said(tmp_path, monkeypatch, stub) is None


def test_a_refusal_of_the_api_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    message = said(tmp_path, monkeypatch, KubernetesStub(), name="other")
    assert message == 'GET /apis/ray.io/v1/namespaces/inference/rayservices/other answers 404 {"message": "not found"}'


def test_no_proxy_is_asked_for_the_api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert said(tmp_path, monkeypatch, KubernetesStub()) is None


def test_an_api_that_does_not_answer_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rolled_out, "_TIMEOUT_SECONDS", 0.2)
    stub = KubernetesStub(before=lambda _: time.sleep(1))
    assert "fails: ReadTimeout" in str(said(tmp_path, monkeypatch, stub))


@pytest.mark.parametrize(("host", "url"), [("10.0.0.1", "https://10.0.0.1:443"), ("fd00::1", "https://[fd00::1]:443")])
def test_the_api_is_where_kubernetes_says(host: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT_HTTPS", "443")
    assert rolled_out._kubernetes_url() == url


def test_outside_a_pod_there_is_no_api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(NotRolledOutError, match=f"GET /apis/.*/{NAME} fails: FileNotFoundError"):
        RayService(tmp_path, NAMESPACE, NAME).require_rolled_out()
    with kubernetes(KubernetesStub(), tmp_path):
        pass
    with pytest.raises(NotRolledOutError, match="KeyError: 'KUBERNETES_SERVICE_HOST'"):
        RayService(tmp_path, NAMESPACE, NAME).require_rolled_out()


def test_an_api_that_is_not_trusted_gets_no_answer_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with kubernetes(KubernetesStub(), other):
        pass
    stub = KubernetesStub()
    with kubernetes(stub, tmp_path) as environment:
        for key, value in environment.items():
            monkeypatch.setenv(key, value)
        with pytest.raises(NotRolledOutError, match="CERTIFICATE_VERIFY_FAILED"):
            RayService(other, NAMESPACE, NAME).require_rolled_out()
    assert stub.looks == 0
