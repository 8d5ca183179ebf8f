"""Whether what was applied is what serves, for a pod in the cluster: KubeRay says so in the RayService's status.

Read of KubeRay 1.7.0, controllers/ray/rayservice_controller.go (2026-11-30):

- A change gives the RayService another `metadata.generation`. `calculateStatus` writes it as `observedGeneration` only
  after the Serve configuration was sent, and in the same write `UpgradeInProgress` where a second cluster is due.
- The applications' statuses of that write were read before the configuration was sent (`reconcileServe`), so they may
  be of before; the next ones, 2 s later, are not: Ray Serve says DEPLOYING as soon as it has taken a configuration
  (Ray 2.58.0, serve/_private/application_state.py, `apply_app_config`). Hence more than one look.
- Under the upgrade strategy None a change of the pods stays in the RayService, and the RayCluster keeps its own: their
  images are compared, since an image is what a version is reported of.
"""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from constructs_pd.conformance.problems import short

# How often in a row it must be so, PAUSE_SECONDS of the program apart: five times what the operator waits.
LOOKS: Final = 2
_TIMEOUT_SECONDS: Final = 10
_RUNNING: Final = "RUNNING"


class NotRolledOutError(Exception):
    """Something else serves, or it cannot be told; it says why."""


@dataclass(frozen=True, slots=True)
class RayService:
    """A RayService and who asks for it.

    Attributes:
        account: Folder with `token` and `ca.crt`, as Kubernetes mounts a pod's account.
        namespace: Its namespace.
        name: Its name.
    """

    account: Path
    namespace: str
    name: str

    def require_rolled_out(self) -> None:
        """Return where the operator says that the RayService's own specification serves.

        Raises:
            NotRolledOutError: It does not say so, or does not answer.
        """
        service = self._get("rayservices", self.name)
        try:
            _require_observed(service)
            _require_ready(service["status"])
            cluster = self._get("rayclusters", service["status"]["activeServiceStatus"]["rayClusterName"])
            _require_images(_images(service["spec"]["rayClusterConfig"]), _images(cluster["spec"]), self.name)
        except (AttributeError, KeyError, TypeError) as error:
            raise NotRolledOutError(f"RayService {self.name} has another shape: {error!r}") from None

    def _get(self, kind: str, name: str) -> Any:
        path = f"/apis/ray.io/v1/namespaces/{self.namespace}/{kind}/{name}"
        try:
            # Read each time: the kubelet renews the token.
            token = (self.account / "token").read_text(encoding="utf-8").strip()
            answer = httpx.get(
                f"{_kubernetes_url()}{path}",
                headers={"Authorization": f"Bearer {token}"},
                verify=ssl.create_default_context(cafile=str(self.account / "ca.crt")),
                # A proxy in the environment is for the world outside.
                trust_env=False,
                timeout=_TIMEOUT_SECONDS,
            )
            if answer.status_code != httpx.codes.OK:
                raise NotRolledOutError(f"GET {path} answers {answer.status_code} {short(answer.text)}")
            return answer.json()
        except (httpx.HTTPError, KeyError, OSError, ValueError) as error:
            raise NotRolledOutError(f"GET {path} fails: {type(error).__name__}: {short(str(error))}") from None


def _kubernetes_url() -> str:
    # What its certificate is sure to be valid for (Kubernetes documentation, Accessing the Kubernetes API from a Pod,
    # 2026-11-30): not kubernetes.default.svc.
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT_HTTPS"]
    return f"https://{f'[{host}]' if ':' in host else host}:{port}"


def _require_observed(service: Any) -> None:
    generation, observed = service["metadata"]["generation"], service.get("status", {}).get("observedGeneration", 0)
    if observed != generation:
        raise NotRolledOutError(f"the operator has seen generation {observed} of the RayService, not yet {generation}")


def _require_ready(status: Any) -> None:
    conditions = {condition["type"]: condition for condition in status.get("conditions", [])}
    for name, wanted in (("UpgradeInProgress", "False"), ("Ready", "True")):
        condition = conditions.get(name, {"status": "unknown"})
        if condition["status"] != wanted:
            raise NotRolledOutError(f"{name} is {condition['status']}: {short(condition.get('message', 'no message'))}")
    applications = status["activeServiceStatus"].get("applicationStatuses", {})
    others = {name: each.get("status") for name, each in applications.items() if each.get("status") != _RUNNING}
    if others or not applications:
        raise NotRolledOutError(f"Serve applications are not {_RUNNING}: {others or 'there is none'}")


def _require_images(wanted: dict[str, list[str]], running: dict[str, list[str]], name: str) -> None:
    for group, images in wanted.items():
        if running.get(group) != images:
            raise NotRolledOutError(
                f"the pods of {group} run {', '.join(running.get(group, [])) or 'nothing'}, not {', '.join(images)}: "
                f"with upgrade.strategy none, delete the RayService {name} and apply again"
            )


def _images(cluster: Any) -> dict[str, list[str]]:
    """Return the images of each kind of pod."""
    groups = {"head": cluster["headGroupSpec"]} | {group["groupName"]: group for group in cluster["workerGroupSpecs"]}
    return {
        name: [container["image"] for container in group["template"]["spec"]["containers"]]
        for name, group in groups.items()
    }
