"""The conformance suite as a Job in the cluster, with what it needs of files.

Job templates and the files are immutable (Kubernetes, pkg/apis/batch/validation, ValidateJobSpecUpdate; ConfigMap's
`immutable`), so their names carry a hash of their content, and the Job's one of the RayService as well: what is
unchanged is applied again without effect, and what is changed runs as a new Job.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from io import BytesIO
from typing import Any, Final
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from constructs_pd.manifests.pods import image_of, tolerations_of
from constructs_pd.manifests.ray_service import ray_service_spec
from constructs_pd.planning.deployment_plan import ConformanceJobPlan, DeploymentPlan

PACKAGE: Final = "constructs_pd"
# What `python -m constructs_pd.conformance` loads of the package.
_MODULES: Final = ("__init__.py", "findings.py", "redaction.py")
ARCHIVE: Final = "suite.pyz"
# What Python runs of an archive.
_MAIN: Final = f"import sys\n\nfrom {PACKAGE}.conformance.__main__ import main\n\nsys.exit(main())\n"
# The earliest that an archive can say, and one system for all, so that it is the same each time and everywhere.
_NO_DATE: Final = (1980, 1, 1, 0, 0, 0)
_UNIX: Final = 3
_MOUNT_PATH: Final = "/suite"
_VOLUME: Final = "suite"
_HASH_DIGITS: Final = 8
# Where Kubernetes mounts a pod's account (Kubernetes documentation, Accessing the Kubernetes API from a Pod).
_ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
# Nobody: the image's own user is root, and the suite only sends requests. The image's Python is for everybody: built
# into /usr/local, with a venv in /opt/venv (aws/deep-learning-containers@140b539, docker/ray_llm/Dockerfile.cuda, and
# docker/base/cu130/Dockerfile), and uv takes no permission from a wheel but to execute (its crates/uv-extract).
_USER_ID: Final = 65534


def suite_files() -> dict[str, str]:
    """Return the suite's files by their path in the archive, in order."""
    package = files(PACKAGE)
    single = {f"{PACKAGE}/{name}": package.joinpath(name).read_text(encoding="utf-8") for name in _MODULES}
    suite = dict(_below(package.joinpath("conformance"), f"{PACKAGE}/conformance"))
    return dict(sorted({"__main__.py": _MAIN, **single, **suite}.items()))


def suite_data() -> dict[str, str]:
    """Return the binary data of the ConfigMap: one archive that Python runs.

    Not compressed: zlib's output differs between machines, and an immutable ConfigMap of one name takes only one. It
    has 210 kB in base64 (2026-11-30). The limits:

    - 1 MiB in a ConfigMap (Kubernetes documentation, ConfigMaps);
    - 256 KiB in all annotations, among which `kubectl apply` keeps the manifest (TotalAnnotationSizeLimitB in
      Kubernetes' apimachinery, pkg/api/validation/objectmeta.go);
    - 1 MB in a call of the CDK's kubectl, which an update sends all manifests of before and after: 460 kB for the
      reference deployment, 30 kB without the suite (AWS Lambda API, Invoke, asynchronous; it was 256 KiB:
      aws/aws-cdk#19165);
    - 1 MB in a template (CloudFormation API, TemplateURL).
    """
    archive = BytesIO()
    with ZipFile(archive, "w", ZIP_STORED) as written:
        for path, text in suite_files().items():
            entry = ZipInfo(path, _NO_DATE)
            entry.compress_type, entry.create_system = ZIP_STORED, _UNIX
            written.writestr(entry, text)
    return {ARCHIVE: b64encode(archive.getvalue()).decode("ascii")}


def suite_name(job: ConformanceJobPlan) -> str:
    """Return the name of the ConfigMap with the suite's files."""
    return f"{job.name_prefix}-{_hash(suite_data())}"


def job_name(plan: DeploymentPlan, job: ConformanceJobPlan) -> str:
    """Return the Job's name: another deployment has it checked again, be it an argument of an engine."""
    return f"{job.name_prefix}-{_hash({'job': job_spec(plan, job), 'deployment': ray_service_spec(plan)})}"


def job_spec(plan: DeploymentPlan, job: ConformanceJobPlan) -> dict[str, Any]:
    """Return the Job's spec: one pod on a CPU node, started again only where its node was taken from it."""
    return {
        # A check that failed fails again.
        "backoffLimit": 0,
        "podFailurePolicy": {
            "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
        },
        "activeDeadlineSeconds": job.deadline_seconds,
        # Never deleted by itself: the next apply would run it again.
        "template": {"metadata": {"labels": job.pod_labels}, "spec": _pod(plan, job)},
    }


def _pod(plan: DeploymentPlan, job: ConformanceJobPlan) -> dict[str, Any]:
    container = {
        "name": "conformance",
        **image_of(plan),
        # Not the image's entry point, which looks at the CUDA driver first.
        "command": ["python3", f"{_MOUNT_PATH}/{ARCHIVE}"],
        "args": _arguments(plan, job),
        "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}],
        "resources": {
            "requests": {"cpu": f"{job.cpu_request_millicores}m", "memory": f"{job.memory_mib}Mi"},
            "limits": {"cpu": str(job.cpu_limit_cores), "memory": f"{job.memory_mib}Mi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        # The last lines of what it says then stand in `kubectl describe pod`.
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [{"name": _VOLUME, "mountPath": _MOUNT_PATH, "readOnly": True}],
    }
    pull_secrets = [{"name": name} for name in plan.image_pull_secrets]
    return {
        **({"imagePullSecrets": pull_secrets} if pull_secrets else {}),
        "restartPolicy": "Never",
        # It may read the RayService, and the RayCluster behind it.
        "serviceAccountName": job.name_prefix,
        "automountServiceAccountToken": True,
        "nodeSelector": plan.head.node_selector,
        **tolerations_of(plan.head),
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER_ID,
            "runAsGroup": _USER_ID,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
        "volumes": [{"name": _VOLUME, "configMap": {"name": suite_name(job)}}],
    }


def _arguments(plan: DeploymentPlan, job: ConformanceJobPlan) -> list[str]:
    gateway = plan.endpoint.gateway
    options = {
        # Past the gateway: the Job holds no API key, and what it checks is the server's own.
        "base-url": f"http://{gateway.serve_host}:{gateway.serve_port}/v1" if gateway else plan.endpoint.url,
        "model": plan.model.served_name,
        "ray": plan.versions.ray,
        "vllm": plan.versions.vllm,
        "metrics-url": job.metrics_url,
        "account": _ACCOUNT,
        "namespace": plan.namespace,
        "rayservice": plan.name,
        "wait": str(job.wait_seconds),
        "deadline": str(job.run_seconds),
    }
    return [f"--{name}={value}" for name, value in options.items()]


def _below(folder: Traversable, path: str) -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        inner = f"{path}/{entry.name}"
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _below(entry, inner)
        elif entry.name.endswith((".py", ".yaml")):
            yield inner, entry.read_text(encoding="utf-8")


def _hash(content: dict[str, Any]) -> str:
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:_HASH_DIGITS]
