from __future__ import annotations

import hashlib
import subprocess
import sys
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from constructs_pd import DeploymentPlan
from constructs_pd.manifests import conformance_job
from constructs_pd.manifests.conformance_job import job_name, job_spec, suite_name
from constructs_pd.planning.deployment_plan import ConformanceJobPlan
from support.kubernetes_stub import NAME, NAMESPACE, KubernetesStub, kubernetes
from support.metrics_page import RAY, pages
from support.openai_stub import MODEL, Fault, Stub, running
from support.specs import plan_with

WITH_JOB = {"endpoint.conformance_job": True}
KIB = 2**10


def planned(changes: dict[str, Any] | None = None) -> tuple[DeploymentPlan, ConformanceJobPlan]:
    plan = plan_with({**WITH_JOB, **(changes or {})})
    assert plan.endpoint.conformance_job is not None
    return plan, plan.endpoint.conformance_job


def pod(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    spec: dict[str, Any] = job_spec(*planned(changes))["template"]["spec"]
    return spec


def test_there_is_none_unless_it_is_wanted() -> None:
    assert plan_with().endpoint.conformance_job is None


def test_the_archive_fits_and_is_where_python_looks_for_it() -> None:
    (name,) = data = conformance_job.suite_data()
    # kubectl keeps it in an annotation, and all of them have 256 KiB.
    assert len(data[name]) < 240 * KIB
    (container,) = pod()["containers"]
    assert container["command"][1] == f"{container['volumeMounts'][0]['mountPath']}/{name}"


def test_the_archive_is_the_same_whatever_compresses_on_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    _, job = planned()
    data, name = conformance_job.suite_data(), suite_name(job)

    def other(*_: Any) -> Any:
        raise AssertionError("zlib compresses otherwise on another machine")

    monkeypatch.setattr(zlib, "compressobj", other)
    monkeypatch.setattr(zlib, "compress", other)
    assert (conformance_job.suite_data(), suite_name(job)) == (data, name)


def test_the_archive_has_no_trace_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conformance_job, "suite_files", lambda: {"__main__.py": "print('ä')\n", "a/b.yaml": "x: 1\n"})
    (data,) = conformance_job.suite_data().values()
    # CPython 3.8 to 3.13 on Linux write this (2026-11-30).
    digest = "8a89c7ec31cdd3265a4f57878333a108540968d0db1a3b3ceaa60980fefe8fe9"
    assert hashlib.sha256(b64decode(data)).hexdigest() == digest


@pytest.mark.parametrize(
    ("gives", "status", "said"),
    [
        # Every option is used: a known deviation of each version, the page of metrics, and the time of the run.
        (MODEL, 0, ("CF102 known ", "CF504 known ", "CF903 passed")),
        ("other", 2, ("CF006 error",)),
    ],
)
def test_the_archive_is_a_program_that_needs_nothing_else_of_the_package(
    tmp_path: Path, gives: str, status: int, said: tuple[str, ...]
) -> None:
    ((name, data),) = conformance_job.suite_data().items()
    archive = tmp_path / name
    archive.write_bytes(b64decode(data))
    account = tmp_path / "account"
    account.mkdir()
    stub = Stub(frozenset({Fault.NO_CREATED, Fault.STREAMED_TOKEN_WITHHELD}))
    with (
        running(stub) as url,
        pages(stub, RAY, 1e6) as metrics_url,
        kubernetes(KubernetesStub(), account) as environment,
    ):
        options = ["--base-url", url, "--model", gives, "--ray", "2.58.0", "--vllm", "0.26.0"]
        limits = ["--metrics-url", metrics_url, "--wait", "0", "--deadline", "60"]
        where = ["--account", str(account), "--namespace", NAMESPACE, "--rayservice", NAME]
        done = subprocess.run(
            [sys.executable, str(archive), *options, *limits, *where],
            cwd=tmp_path,
            env={"PYTHONDONTWRITEBYTECODE": "1", **environment},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == status, f"{done.stdout}{done.stderr}"
    assert [text for text in said if text not in done.stdout] == []


def test_it_asks_the_endpoint_for_what_is_served() -> None:
    arguments = dict(part.removeprefix("--").split("=") for part in pod()["containers"][0]["args"])
    assert arguments == {
        "base-url": "http://qwen35-9b.inference.svc.cluster.local:8000/v1",
        "model": "qwen3.5-9b",
        "ray": "2.58.0",
        "vllm": "0.26.0",
        "metrics-url": "http://qwen35-9b-decode-metrics.inference.svc.cluster.local:8080/metrics",
        "account": "/var/run/secrets/kubernetes.io/serviceaccount",
        "namespace": "inference",
        "rayservice": "qwen35-9b",
        "wait": "7200",
        "deadline": "1800",
    }


def test_it_waits_as_long_as_the_operator_and_ends_after_everything_else() -> None:
    plan, job = planned({"initializing_timeout_seconds": 3600})
    assert job.wait_seconds == 3600
    assert job_spec(plan, job)["activeDeadlineSeconds"] > job.wait_seconds + job.run_seconds


def test_it_runs_where_the_head_may_and_asks_for_no_device() -> None:
    head = {"tolerations": [{"key": "dedicated", "value": "ray"}], "node_selector": {"pool": "cpu"}}
    spec = pod({"head": head, "image.pull_secrets": ["regcred"]})
    assert spec["nodeSelector"] == {"pool": "cpu", "kubernetes.io/arch": "amd64"}
    assert spec["tolerations"][0]["key"] == "dedicated"
    assert spec["imagePullSecrets"] == [{"name": "regcred"}]
    (container,) = spec["containers"]
    for part in container["resources"].values():
        assert set(part) == {"cpu", "memory"}


def test_it_may_do_nothing_but_send_requests_with_its_own_account() -> None:
    spec = pod()
    (container,) = spec["containers"]
    assert spec["serviceAccountName"] == "qwen35-9b-check"
    assert spec["automountServiceAccountToken"] is True
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["securityContext"]["allowPrivilegeEscalation"] is False


def test_no_service_and_no_budget_takes_its_pod_for_one_of_rays() -> None:
    plan, job = planned()
    budgets = [budget.selector_labels for budget in plan.budgets]
    for selector in (*budgets, *(phase.selector_labels for phase in plan.phases)):
        assert not selector.items() <= job.pod_labels.items()


def test_the_metrics_are_asked_for_where_their_service_is() -> None:
    plan, job = planned()
    assert job.metrics_url.startswith(f"http://{job.metrics_service_name}.{plan.namespace}.svc.")


def test_its_name_tells_its_content_and_fits() -> None:
    plan, job = planned({"name": "q" * 47})
    assert len(job_name(plan, job)) <= 63
    assert len(job.metrics_service_name) <= 63
    assert job_name(plan, job) == job_name(*planned({"name": "q" * 47}))
    other = {"name": "q" * 47, "model.served_name": "other"}
    assert job_name(plan, job) != job_name(*planned(other))


def test_other_files_are_another_job(monkeypatch: pytest.MonkeyPatch) -> None:
    before = job_name(*planned())
    monkeypatch.setattr(conformance_job, "suite_files", lambda: {"constructs_pd/__init__.py": ""})
    assert job_name(*planned()) != before


@pytest.mark.parametrize(
    "change",
    [
        {"model.max_model_len": 512},
        {"decode.max_num_seqs": 8},
        {"prefill.max_num_batched_tokens": 4096},
        {"decode.replicas": 2},
        {"head.memory_gib": 16},
    ],
)
def test_another_deployment_is_another_job(change: dict[str, Any]) -> None:
    assert job_name(*planned(change)) != job_name(*planned())
