"""Specifications in YAML files: every mistake names its field and its line."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from constructs_pd.findings import Finding, PlanError, in_order, render
from constructs_pd.planning.catalog.loader import load_catalog
from constructs_pd.planning.codes import FILE
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.facts import Facts, gather
from constructs_pd.planning.resolve import examine, plan
from constructs_pd.planning.spec import DeploymentSpec
from constructs_pd.planning.spec_errors import Diagnosis, diagnose
from constructs_pd.planning.yaml_lines import YamlDocument, YamlFileError, parse_yaml

EXIT_FAILURE: Final = 1


@dataclass(frozen=True, slots=True)
class Examination:
    """What a specification asks for, as far as it can be read, and everything that is found in it.

    Attributes:
        facts: The specification without its mistakes of form, with the catalogue's rows; none where too little is left.
        findings: Errors and warnings, acknowledged ones included, each with its line.
    """

    facts: Facts | None
    findings: tuple[Finding, ...]


def load_spec(path: str | Path) -> DeploymentSpec:
    """Read a specification from a YAML file.

    Raises:
        PlanError: The file cannot be read, is not YAML, or holds a field that is unknown, missing or unsound.
    """
    document, diagnosis = _read(Path(path))
    if diagnosis.findings or diagnosis.spec is None:
        raise PlanError(located(diagnosis.findings, document))
    return diagnosis.spec


def plan_file(path: str | Path) -> DeploymentPlan:
    """Read a specification from a YAML file and plan it.

    Raises:
        PlanError: With everything that is wrong, in the file's form and in what it asks for, all at once.
    """
    document, diagnosis = _read(Path(path))
    if diagnosis.findings or diagnosis.spec is None:
        raise PlanError(_examination(document, diagnosis).findings)
    try:
        planned = plan(diagnosis.spec)
    except PlanError as error:
        raise PlanError(located(error.findings, document)) from None
    return planned.model_copy(update={"findings": tuple(located(planned.findings, document))})


def examine_file(path: str | Path) -> Examination:
    """Read a specification from a YAML file and say everything that is found in it, whether it can be planned or not.

    Raises:
        PlanError: The file cannot be read or is not YAML.
    """
    return _examination(*_read(Path(path)))


def plan_or_exit(path: str | Path) -> DeploymentPlan:
    """Plan a specification file for a command line program.

    Prints warnings to standard error. On errors prints all of them and ends the program with status 1, without a
    traceback.
    """
    try:
        planned = plan_file(path)
    except PlanError as error:
        print(error, file=sys.stderr)  # noqa: T201 - what this function is for
        raise SystemExit(EXIT_FAILURE) from None
    warnings = render(planned.findings)
    if warnings:
        print(warnings, file=sys.stderr)  # noqa: T201 - what this function is for
    return planned


def _examination(document: YamlDocument, diagnosis: Diagnosis[DeploymentSpec]) -> Examination:
    facts = gather(diagnosis.spec, load_catalog()) if diagnosis.spec is not None else None
    found = examine(facts) if facts is not None else ()
    rest = (finding for finding in found if not any(is_unread(finding, form) for form in diagnosis.findings))
    return Examination(facts, in_order(located((*diagnosis.findings, *rest), document)))


def is_unread(finding: Finding, form: Finding) -> bool:
    """Return whether a rule misses what is there and could not be read: a field, or an element of its list."""
    owner, _, last = form.subject.rpartition(".")
    return finding.subject == form.subject or (last.isdecimal() and finding.subject == owner)


def _read(path: Path) -> tuple[YamlDocument, Diagnosis[DeploymentSpec]]:
    try:
        document = parse_yaml(path)
    except YamlFileError as error:
        raise PlanError([FILE.finding("the file", error.message, error.remedy, error.location)]) from None
    diagnosis = diagnose(document.data)
    return document.with_renamed(diagnosis.renamed), diagnosis


def located(findings: Iterable[Finding], document: YamlDocument) -> Iterator[Finding]:
    """Yield findings with the lines of what they are about."""
    for finding in findings:
        yield replace(finding, location=document.location(finding.subject))
