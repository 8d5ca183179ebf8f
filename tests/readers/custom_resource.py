"""Custom resources against their CustomResourceDefinition, as the API server reads one in strict mode.

A CRD's structural schema drops what it does not name; `kubectl` and strict clients refuse it instead, and so
does this reader. The CEL rules (`x-kubernetes-validations`) are not evaluated: `cel_rules` lists them. Nor
is anything that the operator decides in code, e.g. the length of a RayService name.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft4Validator, FormatChecker, ValidationError, validators

from .object_meta import OBJECT_META
from .schema_error import describe

# The C loader reads a megabyte of CRD in a fraction of a second, the Python one in several.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TYPE_META: dict[str, Any] = {"type": "string", "minLength": 1}


def violations(manifest: dict[str, Any], crd_directory: Path) -> list[str]:
    """Return what the resource's CRD refuses in the manifest; an empty list means accepted.

    Raises LookupError when no CRD in the directory serves the manifest's group, version and kind.
    """
    validator = _validator(crd_directory, str(manifest.get("apiVersion")), str(manifest.get("kind")))
    return [describe(error) for error in validator.iter_errors(manifest)]


@cache
def definitions(crd_directory: Path) -> tuple[dict[str, Any], ...]:
    """Return every CustomResourceDefinition in the directory's `*.yaml` files."""
    documents: list[Any] = []
    for path in sorted(crd_directory.glob("*.yaml")):
        documents += yaml.load_all(path.read_text(encoding="utf-8"), Loader=_LOADER)
    return tuple(found for found in documents if found and found["kind"] == "CustomResourceDefinition")


def cel_rules(crd: dict[str, Any]) -> list[str]:
    """Return the CRD's CEL rules with version and field, so that a test can name what is not checked."""
    return [
        f"{version['name']} {field}: {rule['rule']}"
        for version in crd["spec"]["versions"]
        for field, schema in _fields(version["schema"]["openAPIV3Schema"])
        for rule in schema.get("x-kubernetes-validations", ())
    ]


def strict_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Turn a structural schema into a JSON schema (draft 4) that refuses what the former would drop."""
    strict = dict(schema)
    if "properties" in schema:
        strict["properties"] = {name: strict_schema(value) for name, value in schema["properties"].items()}
    if "items" in schema:
        strict["items"] = strict_schema(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        strict["additionalProperties"] = strict_schema(schema["additionalProperties"])
    elif schema.get("type") == "object" and not schema.get("x-kubernetes-preserve-unknown-fields"):
        strict.setdefault("additionalProperties", False)
    if schema.get("x-kubernetes-embedded-resource"):
        strict["properties"] = strict.get("properties", {}) | {
            "apiVersion": _TYPE_META,
            "kind": _TYPE_META,
            "metadata": OBJECT_META,
        }
    if schema.get("x-kubernetes-int-or-string"):
        strict["type"] = ["integer", "string"]
    if schema.get("nullable") and "type" in strict:
        strict["type"] = [*([strict["type"]] if isinstance(strict["type"], str) else strict["type"]), "null"]
    return strict


@cache
def _validator(crd_directory: Path, api_version: str, kind: str) -> Any:
    schema = strict_schema(_structural_schema(crd_directory, api_version, kind))
    schema["properties"] = schema.get("properties", {}) | {
        "apiVersion": {"enum": [api_version]},
        "kind": {"enum": [kind]},
        "metadata": OBJECT_META,
    }
    schema["required"] = sorted({*schema.get("required", ()), "metadata"})
    return _STRUCTURAL_VALIDATOR(schema, format_checker=_FORMATS)


def _structural_schema(crd_directory: Path, api_version: str, kind: str) -> dict[str, Any]:
    group, _, version_name = api_version.rpartition("/")
    served = []
    for spec in (crd["spec"] for crd in definitions(crd_directory)):
        for version in spec["versions"]:
            if not version["served"]:
                continue
            if (spec["group"], version["name"], spec["names"]["kind"]) == (group, version_name, kind):
                schema: dict[str, Any] = version["schema"]["openAPIV3Schema"]
                return schema
            served.append(f"{spec['group']}/{version['name']} {spec['names']['kind']}")
    found = ", ".join(served) or "none"
    raise LookupError(f"no CRD in {crd_directory} serves {api_version} {kind}, only: {found}")


def _fields(schema: dict[str, Any], path: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    yield path, schema
    for name, value in schema.get("properties", {}).items():
        yield from _fields(value, f"{path}.{name}")
    if "items" in schema:
        yield from _fields(schema["items"], f"{path}[*]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _fields(schema["additionalProperties"], f"{path}.*")


def _unique_keys(_validator: Any, keys: list[str], items: Any, schema: dict[str, Any]) -> Iterator[ValidationError]:
    """Refuse a second item with the same key, e.g. two containers with one name; defaults count as given."""
    if not isinstance(items, list):
        return
    defaults = {key: schema["items"]["properties"].get(key, {}).get("default") for key in keys}
    seen = []
    for item in items:
        if isinstance(item, dict):
            identity = {key: item.get(key, defaults[key]) for key in keys}
            if identity in seen:
                yield ValidationError(f"duplicate list item {identity}")
            seen.append(identity)


def _unique_items(validator: Any, list_type: str, items: Any, schema: dict[str, Any]) -> Iterator[ValidationError]:
    if list_type == "set":
        yield from Draft4Validator.VALIDATORS["uniqueItems"](validator, True, items, schema)


def _integer_formats() -> Any:
    formats = FormatChecker(formats=())
    for bits in (32, 64):
        limit = 2 ** (bits - 1)
        formats.checks(f"int{bits}")(lambda value, limit=limit: not isinstance(value, int) or -limit <= value < limit)
    return formats


_FORMATS = _integer_formats()

# OpenAPI 3.0 builds on draft 4; the two list rules are the structural schema's own.
_extend: Any = validators.extend  # Has no types.
_STRUCTURAL_VALIDATOR = _extend(
    Draft4Validator,
    {"x-kubernetes-list-map-keys": _unique_keys, "x-kubernetes-list-type": _unique_items},
)
