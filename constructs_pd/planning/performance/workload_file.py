"""Workloads in YAML files: every mistake names its field and its line."""

from __future__ import annotations

from pathlib import Path

from constructs_pd.findings import Finding, PlanError
from constructs_pd.planning.catalog.loader import load_catalog
from constructs_pd.planning.codes import FILE
from constructs_pd.planning.performance.sizing import Sizing, size
from constructs_pd.planning.performance.workload import Workload
from constructs_pd.planning.performance.workload_mistakes import workload_mistakes
from constructs_pd.planning.spec_errors import Diagnosis, diagnose_as
from constructs_pd.planning.spec_file import is_unread, located
from constructs_pd.planning.yaml_lines import YamlDocument, YamlFileError, parse_yaml


def size_file(path: str | Path) -> Sizing:
    """Read a workload from a YAML file and size it.

    Raises:
        PlanError: With everything that is wrong, in the file's form and in what it asks for, all at once; or with what
            stands in the way of each instance type.
    """
    document, diagnosis = _read(Path(path))
    if diagnosis.findings or diagnosis.spec is None:
        raise PlanError(located(_everything(diagnosis), document))
    try:
        return size(diagnosis.spec)
    except PlanError as error:
        raise PlanError(located(error.findings, document)) from None


def _read(path: Path) -> tuple[YamlDocument, Diagnosis[Workload]]:
    try:
        document = parse_yaml(path)
    except YamlFileError as error:
        raise PlanError([FILE.finding("the file", error.message, error.remedy, error.location)]) from None
    diagnosis = diagnose_as(Workload, document.data)
    return document.with_renamed(diagnosis.renamed), diagnosis


def _everything(diagnosis: Diagnosis[Workload]) -> list[Finding]:
    """Return the mistakes of form, and those of what can be read all the same."""
    form = list(diagnosis.findings)
    found = workload_mistakes(diagnosis.spec, load_catalog()) if diagnosis.spec is not None else ()
    return [*form, *(finding for finding in found if not any(is_unread(finding, each) for each in form))]
