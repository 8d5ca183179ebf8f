"""Custom resources in cdk8s from Python."""

from __future__ import annotations

from typing import Any

from cdk8s import ApiObject, ApiObjectMetadata, JsonPatch
from constructs import Construct


def custom_resource(
    scope: Construct,
    id: str,
    *,
    api_version: str,
    kind: str,
    metadata: ApiObjectMetadata,
    spec: dict[str, Any],
) -> ApiObject:
    """Create a custom resource with a spec.

    `ApiObject` takes no `spec` in Python, so it is added as a patch. Patches are applied in order at synth, so a
    user's own patch on the object comes after this one and wins.
    """
    resource = ApiObject(scope, id, api_version=api_version, kind=kind, metadata=metadata)
    resource.add_json_patch(JsonPatch.add("/spec", spec))
    return resource
