"""Built-in kinds against the OpenAPI schema that a Kubernetes minor version publishes, read strictly.

It is the schema only. What the API server decides in code (names, quantities, references between fields)
passes here, and so does a null: the published schema allows one wherever a field is optional.
"""

from typing import Any

import kubernetes_validate
from kubernetes_validate.utils import VersionNotSupportedError

from .schema_error import describe


def violations(manifest: dict[str, Any], kubernetes_version: str) -> list[str]:
    """Return what the minor version ("1.35") refuses in the manifest; an empty list means accepted.

    A field that the version does not know is a violation. Raises LookupError for a kind without a schema
    (a custom resource) and for a version without schemas, as neither says anything about the manifest.
    """
    missing = [name for name in ("apiVersion", "kind") if not manifest.get(name)]
    if missing:
        return [f"$: '{name}' is a required property" for name in missing]
    try:
        used = kubernetes_validate.validate(manifest, kubernetes_version, strict=True)
        found = []
    except kubernetes_validate.ValidationError as error:
        used = error.version
        found = [describe(error)]
    except kubernetes_validate.SchemaNotFoundError as error:
        kind = f"{manifest['apiVersion']} {manifest['kind']}"
        raise LookupError(f"Kubernetes {kubernetes_version} has no schema for {kind}") from error
    except (VersionNotSupportedError, IndexError) as error:
        raise LookupError(f"there are no schemas for Kubernetes {kubernetes_version}") from error
    if used != kubernetes_version:
        # The package falls back to the newest older version, which would be another reader than asked for.
        raise LookupError(f"there are no schemas for Kubernetes {kubernetes_version}, only for {used}")
    return found
