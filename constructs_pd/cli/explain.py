"""What a code means, how its numbers are worked out, and what it says of a specification."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from constructs_pd.cli import output
from constructs_pd.cli.status import ERRORS, USAGE_ERROR
from constructs_pd.findings import PlanError, Severity
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.codes import OTHER_CODES, Code
from constructs_pd.planning.defects import why_never_met
from constructs_pd.planning.rules import RULES
from constructs_pd.planning.rules.pd412_known_defects import RULE as DEFECTS
from constructs_pd.planning.rules.rule import Rule
from constructs_pd.planning.rules.suggest import near_names
from constructs_pd.planning.spec_file import Examination, examine_file

KNOWN: Final[dict[str, Code | Rule]] = {
    **{code.code: code for code in OTHER_CODES},
    **{rule.code: rule for rule in RULES},
}
INDENT: Final = 2


def explain(stated: Namespace) -> int:
    """Print a code's meaning, and its numbers and findings in a specification where one is given."""
    code, _, defect = stated.code.partition("/")
    known = KNOWN.get(code.upper())
    if known is not None and defect:
        return _explain_defect(known, defect)
    if known is None:
        near = near_names(stated.code.upper(), KNOWN) or "`constructs-pd rules` lists them"
        output.complaint(f"{stated.code!r} is none of the {len(KNOWN)} codes: {near}")
        return USAGE_ERROR
    examined: Examination | None = None
    if stated.specification is not None:
        try:
            examined = examine_file(stated.specification)
        except PlanError as error:
            output.complaint(str(error))
            return ERRORS
    output.line(f"{known.code} {known.severity}: {known.title}", style="bold")
    _part("what happens otherwise", [known.rationale])
    if isinstance(known, Rule) and known.arithmetic is not None:
        _part("arithmetic", known.arithmetic.split("; "))
    _part("source", [known.source])
    return 0 if examined is None else _of_a_specification(known, examined, stated.specification)


def _explain_defect(known: Code | Rule, name: str) -> int:
    """Print one of the known defects, as it is named where it is acknowledged."""
    catalog = load_catalog()
    defects = catalog.known_defects if known.code == DEFECTS.code else {}
    row = defects.get(name.lower())
    if row is None:
        near = near_names(name.lower(), defects) or "docs/known_defects.md lists them"
        output.complaint(f"{name!r} is none of the {len(defects)} defects of {known.code}: {near}")
        return USAGE_ERROR
    until = f" to before {row.first_fixed}" if row.first_fixed else ""
    output.line(f"{known.code}/{row.id} {row.severity}: {row.title}", style="bold")
    _part("affected", [f"{row.component} from {row.first_affected}{until}"])
    never = why_never_met(row, catalog)
    if never is not None:
        _part("never reported today", [never])
    _part("what happens otherwise", [row.effect])
    _part("what to do", [row.workaround])
    _part("source", [f"{row.source}, {row.date}"])
    return 0


def _of_a_specification(known: Code | Rule, examined: Examination, path: Path) -> int:
    """Print the numbers and the findings of a code in a specification."""
    if examined.facts is not None and isinstance(known, Rule) and known.worked is not None:
        _part(f"in {path}", known.worked(examined.facts))
    own = [finding for finding in examined.findings if finding.code == known.code]
    output.line()
    if known.code.startswith("PD5"):
        output.line("Constructs find this, when an app is synthesized; the specification alone does not show it.")
    elif examined.facts is None and not own:
        output.line(f"too little of {path} can be read: `constructs-pd plan` says what is wrong with it")
        return ERRORS
    else:
        output.line(f"{len(own)} {'finding' if len(own) == 1 else 'findings'} in {path}")
    others = {
        finding.code
        for finding in examined.findings
        if finding.severity is Severity.ERROR and finding.code != known.code
    }
    if others:
        output.line(f"other errors there, without which the numbers may change: {', '.join(sorted(others))}")
    for finding in own:
        output.finding(finding)
        if finding.acknowledged is not None:
            output.line(f"acknowledged: {finding.acknowledged}", indent=output.REMEDY_INDENT, style="dim")
    return ERRORS if any(finding.severity is Severity.ERROR for finding in own) else 0


def _part(title: str, lines: Iterable[str]) -> None:
    output.line(title, style="bold")
    for line in lines:
        text = line.lstrip()
        output.line(text, indent=INDENT + len(line) - len(text))
