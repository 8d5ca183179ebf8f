"""A stand-in for the Kubernetes API, as a pod sees it: a RayService, its RayCluster, and an account to read them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from constructs_pd.manifests.ray_service import ray_service_spec
from support.certificates import self_signed
from support.openai_stub import served
from support.specs import plan_with

NAMESPACE: Final = "inference"
NAME: Final = "qwen35-9b"
CLUSTER: Final = "qwen35-9b-x7k2p"
TOKEN: Final = "a-token"
_PATH: Final = f"/apis/ray.io/v1/namespaces/{NAMESPACE}"


def rolled_out() -> dict[str, Any]:
    """Return a RayService whose specification serves."""
    return {
        "metadata": {"generation": 3},
        "spec": ray_service_spec(plan_with()),
        "status": {
            "observedGeneration": 3,
            "conditions": [
                {"type": "Ready", "status": "True", "message": "Number of serve endpoints is greater than 0"},
                {"type": "UpgradeInProgress", "status": "False", "message": "no pending Ray cluster"},
            ],
            "activeServiceStatus": {"rayClusterName": CLUSTER, "applicationStatuses": {"llm": {"status": "RUNNING"}}},
        },
    }


@dataclass
class KubernetesStub:
    """What the API answers; `before` may change it each time that the RayService is asked for."""

    service: dict[str, Any] = field(default_factory=rolled_out)
    cluster: dict[str, Any] = field(init=False)
    before: Callable[[int], None] = lambda _: None
    looks: int = 0

    def __post_init__(self) -> None:
        self.cluster = {"spec": deepcopy(self.service["spec"]["rayClusterConfig"])}

    def answer(self, path: str, token: str | None) -> tuple[int, dict[str, Any]]:
        """Return a status and an object."""
        if token != f"Bearer {TOKEN}":
            return 401, {"message": "Unauthorized"}
        if path == f"{_PATH}/rayservices/{NAME}":
            self.looks += 1
            self.before(self.looks)
            return 200, self.service
        if path == f"{_PATH}/rayclusters/{CLUSTER}":
            return 200, self.cluster
        return 404, {"message": "not found"}


@contextmanager
def kubernetes(stub: KubernetesStub, folder: Path) -> Iterator[dict[str, str]]:
    """Serve it, write the account into the folder and give the environment of a pod."""

    class Api(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = stub.answer(self.path, self.headers["Authorization"])
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    context, certificate = self_signed(folder)
    certificate.rename(folder / "ca.crt")
    (folder / "token").write_text(f"{TOKEN}\n")
    with served(Api, context) as address:
        parts = urlsplit(address)
        yield {"KUBERNETES_SERVICE_HOST": str(parts.hostname), "KUBERNETES_SERVICE_PORT_HTTPS": str(parts.port)}
