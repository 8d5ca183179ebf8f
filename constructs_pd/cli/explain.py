"""What a code means, and what it says of a specification."""

from __future__ import annotations

from argparse import Namespace
from typing import Final

from constructs_pd.cli import output
from constructs_pd.findings import Finding, PlanError
from constructs_pd.planning.codes import OTHER_CODES, Code
from constructs_pd.planning.rules import RULES
from constructs_pd.planning.rules.rule import Rule
from constructs_pd.planning.rules.suggest import known_names
from constructs_pd.planning.spec_file import plan_file

KNOWN: Final[dict[str, Code | Rule]] = {
    **{code.code: code for code in OTHER_CODES},
    **{rule.code: rule for rule in RULES},
}
USAGE_ERROR = 2


def explain(stated: Namespace) -> int:
    """Print a code's meaning, and its findings in a specification where one is given."""
    code = stated.code.upper()
    if code not in KNOWN:
        output.complaint(f"{stated.code!r} is none of the {len(KNOWN)} codes: {known_names(code, KNOWN)}")
        return USAGE_ERROR
    found = KNOWN[code]
    output.line(f"{found.code} {found.severity}: {found.title}")
    output.line(f"  otherwise: {found.rationale}")
    output.line(f"  source: {found.source}")
    if stated.specification is not None:
        own = [finding for finding in _findings(stated) if finding.code == code]
        output.line(f"{len(own)} findings in {stated.specification}")
        for finding in own:
            output.line(finding.render())
    return 0


def _findings(stated: Namespace) -> tuple[Finding, ...]:
    try:
        return plan_file(stated.specification).findings
    except PlanError as error:
        return error.findings
