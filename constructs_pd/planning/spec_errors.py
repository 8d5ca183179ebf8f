"""From pydantic's errors to findings: one code per kind of mistake, never the value that was written."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from constructs_pd.findings import Finding, PlanError
from constructs_pd.planning.codes import LITERAL_SECRET, MISSING_FIELD, UNKNOWN_FIELD, UNSOUND_VALUE
from constructs_pd.planning.model_base import model_in
from constructs_pd.planning.spec import DeploymentSpec

FieldPath = tuple[str | int, ...]
# What a file has in the place of Python's types.
_IN_A_FILE: Final = {"tuple": "list", "dictionary": "mapping"}
BOUNDS: Final = frozenset({"greater_than", "greater_than_equal", "less_than", "less_than_equal", "multiple_of"})


Stated = TypeVar("Stated", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Diagnosis(Generic[Stated]):
    """What is wrong with the form of a file.

    Attributes:
        findings: A finding for every mistake.
        spec: What is stated without its mistakes, where that still is one: misspelled fields under their right name,
            unsound ones left out. The rules can speak about it at the same time.
        renamed: Right path of every misspelled field, by the path that stands in the file.
    """

    findings: tuple[Finding, ...]
    spec: Stated | None
    renamed: dict[FieldPath, FieldPath]


def diagnose(data: Any) -> Diagnosis[DeploymentSpec]:
    """Find every mistake in the form of a specification, also those below a misspelled field."""
    return diagnose_as(DeploymentSpec, data)


def diagnose_as(root: type[Stated], data: Any) -> Diagnosis[Stated]:
    """Find every mistake in the form of what a model describes, also those below a misspelled field."""
    findings: list[Finding] = []
    renamed: dict[FieldPath, FieldPath] = {}
    dropped: set[FieldPath] = set()
    while True:  # each turn renames or leaves out a field, so there is a last one
        try:
            return Diagnosis(tuple(findings), root.model_validate(data), renamed)
        except ValidationError as error:
            details = error.errors(include_url=False, include_input=False, include_context=False)
        names = {detail["loc"]: _right_name(root, detail["loc"], data) for detail in details if _is_unknown(detail)}
        corrected = {path: (*path[:-1], name) for path, name in names.items() if name is not None}
        known = {*corrected.values(), *dropped}
        findings += [_finding(root, detail, data) for detail in details if not _follows_from(detail["loc"], known)]
        unsound = {detail["loc"] for detail in details} - {*corrected, *corrected.values()}
        mended = without(_renamed(data, corrected), unsound)
        if mended == data:
            return Diagnosis(tuple(findings), None, renamed)
        renamed |= corrected
        dropped |= unsound
        data = mended


def _follows_from(path: FieldPath, known: set[FieldPath]) -> bool:
    """Return whether a mistake is the trace of one already found: a field left out, or what is left around it."""
    return any(found[: len(path)] == path for found in known)


def without(data: Any, paths: set[FieldPath]) -> Any:
    """Return a copy of nested data without the fields at these paths."""
    if isinstance(data, dict):
        return {key: without(value, _below(key, paths)) for key, value in data.items() if (key,) not in paths}
    if isinstance(data, list):
        return [without(value, _below(index, paths)) for index, value in enumerate(data) if (index,) not in paths]
    return data


def _below(key: str | int, paths: set[FieldPath]) -> set[FieldPath]:
    return {path[1:] for path in paths if len(path) > 1 and path[0] == key}


def _renamed(data: Any, corrected: dict[FieldPath, FieldPath]) -> Any:
    for wrong, right in corrected.items():
        data = _rename(data, wrong, right[-1])
    return data


def _rename(data: Any, path: FieldPath, name: str | int) -> Any:
    if len(path) == 1:
        return {name if key == path[0] else key: value for key, value in data.items()}
    if isinstance(data, list):
        return [_rename(value, path[1:], name) if key == path[0] else value for key, value in enumerate(data)]
    return {key: _rename(value, path[1:], name) if key == path[0] else value for key, value in data.items()}


def _is_unknown(detail: ErrorDetails) -> bool:
    return detail["type"] == "extra_forbidden"


def _right_name(root: type[BaseModel], path: FieldPath, data: Any) -> str | None:
    """Return the field that a misspelled one means, if that field is not there as well."""
    for part in path[:-1]:
        data = data[part]
    near = get_close_matches(str(path[-1]), _owner(root, path).model_fields, n=1, cutoff=0.6)
    return near[0] if near and near[0] not in data else None


def _finding(root: type[BaseModel], detail: ErrorDetails, data: Any) -> Finding:
    path, kind = detail["loc"], detail["type"]
    subject = ".".join(str(part) for part in path) or "the specification"
    if kind == "extra_forbidden":
        return UNKNOWN_FIELD.finding(subject, "there is no such field", _known_fields(root, path))
    if kind == "missing":
        return MISSING_FIELD.finding(subject, "this field is required", f"add it: {_expected(root, path)}")
    if kind == "literal_secret":
        return LITERAL_SECRET.finding(
            subject,
            "a secret is written into the specification (it is not repeated here)",
            "put it into a Kubernetes Secret, write `{secret_name: ..., key: ...}` instead, and revoke it",
        )
    return UNSOUND_VALUE.finding(subject, _unsound(detail, data), f"expected: {_expected(root, path)}")


def _unsound(detail: ErrorDetails, data: Any) -> str:
    """Say what is wrong with a value. Only a number that is out of bounds is shown: it can be no secret."""
    if detail["type"] == "string_pattern_mismatch":
        return "the text does not have the right form"
    message = detail["msg"][:1].lower() + detail["msg"][1:]
    if detail["type"] not in BOUNDS:
        for written, meant in _IN_A_FILE.items():
            message = message.replace(f"a valid {written}", f"a {meant}")
        return message
    for part in detail["loc"]:
        data = data[part]
    return f"{data} {message.replace('input should', 'should')}"


def _known_fields(root: type[BaseModel], path: FieldPath) -> str:
    names = sorted(_owner(root, path).model_fields)
    near = get_close_matches(str(path[-1]), names, n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else f"known fields: {', '.join(names)}"


def _expected(root: type[BaseModel], path: FieldPath) -> str:
    """Say what belongs at a path, in the words of its field's description."""
    while path:
        field = _owner(root, path).model_fields.get(str(path[-1])) if isinstance(path[-1], str) else None
        if field is not None:
            return _description(field)
        path = path[:-1]
    return "a mapping of fields"


def _description(field: FieldInfo) -> str:
    """Return a field's description; only a field that holds a whole model may lack one."""
    model = model_in(field.annotation)
    return field.description or f"a mapping with {', '.join(model.model_fields if model else ())}"


def _owner(root: type[BaseModel], path: FieldPath) -> type[BaseModel]:
    """Return the model that a path's last part is a field of; the nearest one above, inside plain mappings."""
    owner = root
    for part in path[:-1]:
        field = owner.model_fields.get(str(part)) if isinstance(part, str) else None
        owner = (field and model_in(field.annotation)) or owner
    return owner


def parse_spec(values: Any) -> DeploymentSpec:
    """Return the specification that plain values state, such as a dictionary from a file of your own.

    Raises:
        PlanError: A field is unknown, missing or unsound; carries every finding.
    """
    diagnosis = diagnose(_listed(values))
    if diagnosis.findings or diagnosis.spec is None:
        raise PlanError(diagnosis.findings)
    return diagnosis.spec


def _listed(data: Any) -> Any:
    """Return nested data with lists in the place of tuples, as a file would hold it."""
    if isinstance(data, dict):
        return {key: _listed(value) for key, value in data.items()}
    return [_listed(value) for value in data] if isinstance(data, list | tuple) else data
