"""The page of every code."""

from __future__ import annotations

from constructs_pd.planning.codes import OTHER_CODES
from constructs_pd.planning.rules import RULES
from tools.pages.table import NOTE, table


def rules_page() -> str:
    """Return the catalogue of every code: rules and other errors."""
    head = (
        "# Rules\n\n"
        "What is checked before anything is written. An error stops the synth; a rule's warning is printed\n"
        "until it is acknowledged with a reason. A code never changes its meaning.\n\n"
    )
    rows = [
        *((code.code, str(code.severity), code.title, "", code.rationale, code.source) for code in OTHER_CODES),
        *(
            (rule.code, str(rule.severity), rule.title, rule.arithmetic or "", rule.rationale, rule.source)
            for rule in RULES
        ),
    ]
    columns = ("code", "severity", "what must hold", "arithmetic", "what happens otherwise", "source")
    return NOTE + head + table(columns, sorted(rows))
