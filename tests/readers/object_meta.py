"""The rules of ObjectMeta, which no CRD spells out: the API server applies them to every object."""

from typing import Any

_LABEL_NAME = r"([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]"
_DNS_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_QUALIFIED_NAME = rf"^({_DNS_SUBDOMAIN}/)?{_LABEL_NAME}\Z"

_STRING: dict[str, Any] = {"type": "string"}
_INTEGER: dict[str, Any] = {"type": "integer"}
_BOOLEAN: dict[str, Any] = {"type": "boolean"}


def _closed(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False, **more}


def _map(value: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "patternProperties": {_QUALIFIED_NAME: value}, "additionalProperties": False}


_OWNER_REFERENCE = _closed(
    {
        "apiVersion": _STRING,
        "kind": _STRING,
        "name": _STRING,
        "uid": _STRING,
        "controller": _BOOLEAN,
        "blockOwnerDeletion": _BOOLEAN,
    },
    required=["apiVersion", "kind", "name", "uid"],
)

#: JSON schema (draft 4) of an object's metadata: known fields only, a valid name, valid labels.
OBJECT_META: dict[str, Any] = _closed(
    {
        "name": {"type": "string", "pattern": rf"^{_DNS_SUBDOMAIN}\Z", "maxLength": 253},
        "generateName": {"type": "string", "pattern": rf"^{_DNS_SUBDOMAIN}-?\Z", "maxLength": 253},
        "namespace": {"type": "string", "pattern": r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z", "maxLength": 63},
        "labels": _map({"type": "string", "pattern": rf"^({_LABEL_NAME})?\Z"}),
        "annotations": _map(_STRING),
        "finalizers": {"type": "array", "items": _STRING},
        "ownerReferences": {"type": "array", "items": _OWNER_REFERENCE},
        "uid": _STRING,
        "resourceVersion": _STRING,
        "generation": _INTEGER,
        "creationTimestamp": {"type": ["string", "null"]},
        "deletionTimestamp": _STRING,
        "deletionGracePeriodSeconds": _INTEGER,
        "managedFields": {"type": "array", "items": {"type": "object"}},
        "selfLink": _STRING,
    },
    anyOf=[{"required": ["name"]}, {"required": ["generateName"]}],
)
