"""A control plane of its own for the tests, on loopback, with throw-away data."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from cluster.binaries import build, module_folder, operator_source, operator_version
from cluster.certificates import Certificates, write_certificates
from cluster.dashboard import Dashboards, dashboards
from cluster.kubectl import Kubectl, RefusedError, wait_for
from cluster.kubelet import STARTED
from cluster.processes import Processes, free_port

KWOK = "sigs.k8s.io/kwok"
KWOK_STAGES = (
    "node/fast/node-initialize.yaml",
    "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    "pod/fast/pod-delete.yaml",
)
KWOK_READY = "pod/fast/pod-ready.yaml"
KWOK_ANNOTATION = ("kwok.x-k8s.io/node", "fake")
START_SECONDS = 120


@dataclass(frozen=True)
class ControlPlane:
    """A running control plane.

    Attributes:
        kubectl: Calls it.
        kubernetes: Its Kubernetes version.
        operator: Version of the KubeRay operator, or none where the cluster is not ours.
        operator_log: The operator's log, or none where the cluster is not ours.
        dashboards: What the operator asks in the place of Ray's dashboards, or none where the cluster is not ours.
    """

    kubectl: Kubectl
    kubernetes: str
    operator: str | None
    operator_log: Path | None
    dashboards: Dashboards | None


@contextmanager
def control_plane(kubernetes: str) -> Iterator[ControlPlane]:
    """Start a control plane of a Kubernetes minor version, and stop it whatever happens."""
    programs, etcd, operator, kwok = (
        build(component) for component in (f"kubernetes-{kubernetes}", "etcd", "kuberay", "kwok")
    )
    with (
        tempfile.TemporaryDirectory(prefix="constructs-pd-test-cluster-") as folder,
        dashboards() as answering,
        Processes(Path(folder)) as running,
    ):
        work = Path(folder)
        certificates = write_certificates(work)
        store, server = f"http://127.0.0.1:{free_port()}", free_port()
        kubeconfig = _kubeconfig(work, server, certificates)
        kubectl = Kubectl(programs / "kubectl", kubeconfig)
        _start_etcd(running, etcd / "etcd", work, store)
        _start_api_server(running, programs / "kube-apiserver", store, server, certificates)
        _wait_for_api_server(running, kubectl)
        _start_controllers(running, programs, kubeconfig, certificates)
        _start_kwok(running, kwok / "kwok", kubeconfig)
        _install_definitions(kubectl)
        _start_operator(running, operator / "kuberay-operator", kubeconfig, answering)
        version, log = operator_version(), running.log("kuberay-operator")
        try:
            yield ControlPlane(kubectl, kubernetes, version, log, answering)
            running.require_running()
        finally:
            _keep_logs(work, kubernetes)


def _start_etcd(running: Processes, program: Path, work: Path, store: str) -> None:
    peer = f"http://127.0.0.1:{free_port()}"
    running.start(
        program,
        f"--data-dir={work / 'etcd'}",
        f"--listen-client-urls={store}",
        f"--advertise-client-urls={store}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
    )


def _start_api_server(running: Processes, program: Path, store: str, port: int, certificates: Certificates) -> None:
    running.start(
        program,
        f"--etcd-servers={store}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={port}",
        f"--tls-cert-file={certificates.server.certificate}",
        f"--tls-private-key-file={certificates.server.key}",
        f"--client-ca-file={certificates.authority.certificate}",
        f"--service-account-key-file={certificates.service_accounts}",
        f"--service-account-signing-key-file={certificates.service_accounts}",
        f"--service-account-issuer=https://127.0.0.1:{port}",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--authorization-mode=Node,RBAC",
        "--allow-privileged=true",
        # It would publish a loopback address as the endpoint of the service kubernetes, which is refused.
        "--endpoint-reconciler-type=none",
    )


def _wait_for_api_server(running: Processes, kubectl: Kubectl) -> None:
    def ready() -> bool:
        running.require_running()
        try:
            return kubectl.run("get", "--raw", "/readyz") == "ok"
        except RefusedError:
            return False

    wait_for("API server", ready, START_SECONDS)


def _start_controllers(running: Processes, programs: Path, kubeconfig: Path, certificates: Certificates) -> None:
    common = ("--bind-address=127.0.0.1", f"--kubeconfig={kubeconfig}", "--leader-elect=false")
    running.start(
        programs / "kube-controller-manager",
        *common,
        f"--secure-port={free_port()}",
        f"--service-account-private-key-file={certificates.service_accounts}",
        f"--root-ca-file={certificates.authority.certificate}",
        "--use-service-account-credentials=true",
    )
    running.start(programs / "kube-scheduler", *common, f"--secure-port={free_port()}")


def _start_kwok(running: Processes, program: Path, kubeconfig: Path) -> None:
    """Start what says of the tests' nodes that they live, and of pods on them that they run.

    Heads and the gateway's pods wait until a test starts them: once a head runs the operator asks its dashboard, and
    the gateway's pods wait for a Secret, of which KWOK knows nothing.
    """
    stages = module_folder("kwok", KWOK) / "kustomize" / "stage"
    ready = yaml.safe_load((stages / KWOK_READY).read_text(encoding="utf-8"))
    at_once = _when(
        ready,
        "at-once",
        {"key": '.metadata.labels["ray.io/node-type"]', "operator": "NotIn", "values": ["head"]},
        {"key": '.metadata.labels["constructs-pd/role"]', "operator": "NotIn", "values": ["gateway"]},
    )
    key, value = STARTED
    started = _when(ready, "started", {"key": f'.metadata.annotations["{key}"]', "operator": "In", "values": [value]})
    running.start(
        program,
        *(f"--config={stages / file}" for file in KWOK_STAGES),
        *(f"--config={_written(kubeconfig.parent, stage)}" for stage in (at_once, started)),
        f"--kubeconfig={kubeconfig}",
        f"--manage-nodes-with-annotation-selector={KWOK_ANNOTATION[0]}={KWOK_ANNOTATION[1]}",
        "--node-ip=127.0.0.1",
        # As kubelets do. Without leases every node is believed dead after 50 s, the default of the node controller.
        "--node-lease-duration-seconds=40",
    )


def _when(stage: dict[str, Any], name: str, *conditions: dict[str, Any]) -> dict[str, Any]:
    """Return a stage of KWOK's under another name, with more conditions."""
    made = deepcopy(stage)
    made["metadata"]["name"] += f"-{name}"
    made["spec"]["selector"]["matchExpressions"] += conditions
    return made


def _written(folder: Path, stage: dict[str, Any]) -> Path:
    path = folder / f"{stage['metadata']['name']}.yaml"
    path.write_text(yaml.safe_dump(stage), encoding="utf-8")
    return path


def _install_definitions(kubectl: Kubectl) -> None:
    """Install the definitions that the operator came with, and over them those that KUBERAY_CRD_DIR holds."""
    kubectl.apply_file(operator_source() / "config" / "crd" / "bases")
    newer = os.environ.get("KUBERAY_CRD_DIR")
    if newer:
        kubectl.apply_file(Path(newer))
    kubectl.run("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")


def _start_operator(running: Processes, program: Path, kubeconfig: Path, answering: Dashboards) -> None:
    running.start(
        program,
        f"--kubeconfig={kubeconfig}",
        f"--metrics-addr=127.0.0.1:{free_port()}",
        f"--health-probe-bind-address=127.0.0.1:{free_port()}",
        "--enable-leader-election=false",
        # Go takes no proxy to a loopback address, so the API server is asked directly.
        HTTP_PROXY=answering.address,
    )


def _kubeconfig(work: Path, port: int, certificates: Certificates) -> Path:
    path = work / "kubeconfig"
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "test",
                "cluster": {
                    "server": f"https://127.0.0.1:{port}",
                    "certificate-authority": str(certificates.authority.certificate),
                },
            }
        ],
        "users": [
            {
                "name": "test",
                "user": {
                    "client-certificate": str(certificates.administrator.certificate),
                    "client-key": str(certificates.administrator.key),
                },
            }
        ],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "current-context": "test",
    }
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return path


def _keep_logs(work: Path, kubernetes: str) -> None:
    """Keep the logs where TEST_CLUSTER_LOGS says, for a look after the control plane is gone."""
    if "TEST_CLUSTER_LOGS" in os.environ:
        kept = Path(os.environ["TEST_CLUSTER_LOGS"]) / kubernetes
        kept.mkdir(parents=True, exist_ok=True)
        for log in work.glob("*.log"):
            shutil.copy(log, kept)
