"""The gateway's objects in Kubernetes: a Deployment of HAProxy, its Service, its files and its disruption budget."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, Final

from constructs_pd.manifests.gateway_config import CONFIG_FILE, gateway_files, in_the_pod
from constructs_pd.manifests.pods import tolerations_of
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.gateway_plan import GatewayPlan

CONTAINER: Final = "haproxy"
FILES_HASH: Final = "constructs-pd/gateway-files"
_FILES_VOLUME: Final = "files"
_KEYS_VOLUME: Final = "api-keys"
_PORT_NAME: Final = "http"
_HEALTH_PORT_NAME: Final = "health"
# Nobody: HAProxy's image has a user of its own, which not every build gives the same number.
_USER_ID: Final = 65534
_OWNER_AND_GROUP_READ: Final = 0o440


def gateway_data(gateway: GatewayPlan) -> dict[str, str]:
    """Return the data of the ConfigMap: HAProxy's configuration, the script that reloads the keys, an empty map."""
    return gateway_files(gateway, in_the_pod(gateway))


def gateway_deployment_spec(plan: DeploymentPlan, gateway: GatewayPlan) -> dict[str, Any]:
    """Return the Deployment's spec."""
    files = json.dumps(gateway_data(gateway), sort_keys=True)
    return {
        "replicas": gateway.replicas,
        "selector": {"matchLabels": gateway.selector_labels},
        # Never a pod more: each one lets its part of a key's limits through.
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
        "template": {
            "metadata": {
                "labels": gateway.pod_labels,
                # Other files are other pods: HAProxy reads them once, when it starts.
                "annotations": {FILES_HASH: sha256(files.encode()).hexdigest()},
            },
            "spec": _pod(plan, gateway),
        },
    }


def gateway_service_spec(gateway: GatewayPlan) -> dict[str, Any]:
    """Return the Service's spec."""
    return {
        "type": "ClusterIP",
        "selector": gateway.selector_labels,
        "ports": [{"name": _PORT_NAME, "port": gateway.service_port, "targetPort": _PORT_NAME}],
    }


def gateway_budget_spec(gateway: GatewayPlan) -> dict[str, Any]:
    """Return the disruption budget's spec: one pod at a time, and any that serves nobody."""
    return {
        "maxUnavailable": 1,
        "selector": {"matchLabels": gateway.selector_labels},
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    }


def _pod(plan: DeploymentPlan, gateway: GatewayPlan) -> dict[str, Any]:
    place = in_the_pod(gateway)
    container = {
        "name": CONTAINER,
        "image": gateway.image,
        "imagePullPolicy": "IfNotPresent",
        # Not the image's entry point, which would run a master beside it that nothing here needs.
        "command": ["haproxy", "-f", f"{place.folder}/{CONFIG_FILE}"],
        "ports": [
            {"name": _PORT_NAME, "containerPort": gateway.container_port},
            {"name": _HEALTH_PORT_NAME, "containerPort": gateway.health_port},
        ],
        "resources": {
            "requests": {"cpu": f"{gateway.cpu_request_millicores}m", "memory": f"{gateway.memory_mib}Mi"},
            "limits": {"cpu": str(gateway.cpu_limit_cores), "memory": f"{gateway.memory_mib}Mi"},
        },
        "readinessProbe": {**_probe(gateway), "periodSeconds": 5, "failureThreshold": 2},
        "livenessProbe": {**_probe(gateway), "periodSeconds": 10, "failureThreshold": 6},
        "lifecycle": {"preStop": {"exec": {"command": ["/bin/sh", "-c", _soft_stop(gateway)]}}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [
            {"name": _FILES_VOLUME, "mountPath": place.folder, "readOnly": True},
            # The whole volume: the kubelet never brings a changed Secret to a file that is mounted by itself.
            {"name": _KEYS_VOLUME, "mountPath": place.keys.rpartition("/")[0], "readOnly": True},
        ],
    }
    pull_secrets = [{"name": name} for name in gateway.pull_secrets]
    return {
        **({"imagePullSecrets": pull_secrets} if pull_secrets else {}),
        "serviceAccountName": gateway.name,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "nodeSelector": plan.head.node_selector,
        **tolerations_of(plan.head),
        "topologySpreadConstraints": [
            _spread(gateway, "kubernetes.io/hostname", "DoNotSchedule"),
            _spread(gateway, "topology.kubernetes.io/zone", "ScheduleAnyway"),
        ],
        "terminationGracePeriodSeconds": gateway.termination_grace_seconds,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER_ID,
            "runAsGroup": _USER_ID,
            "fsGroup": _USER_ID,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
        "volumes": [
            {"name": _FILES_VOLUME, "configMap": {"name": gateway.name}},
            {
                "name": _KEYS_VOLUME,
                "secret": {
                    "secretName": gateway.api_keys.secret_name,
                    "items": [{"key": gateway.api_keys.key, "path": gateway.api_keys.key}],
                    "defaultMode": _OWNER_AND_GROUP_READ,
                },
            },
        ],
    }


def _probe(gateway: GatewayPlan) -> dict[str, Any]:
    return {"httpGet": {"path": gateway.health_path, "port": _HEALTH_PORT_NAME}, "timeoutSeconds": 2}


def _soft_stop(gateway: GatewayPlan) -> str:
    """Return what lets streams end: SIGTERM, which images other than the official one are sent, would cut them."""
    return f"sleep {gateway.pre_stop_seconds}; kill -USR1 1; while kill -0 1; do sleep 1; done"


def _spread(gateway: GatewayPlan, key: str, otherwise: str) -> dict[str, Any]:
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": otherwise,
        "labelSelector": {"matchLabels": gateway.selector_labels},
        # Pods of before an update do not count, and neither do nodes that take none.
        "matchLabelKeys": ["pod-template-hash"],
        "nodeTaintsPolicy": "Honor",
    }
