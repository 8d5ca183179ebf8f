"""One rule against one specification."""

from __future__ import annotations

from typing import Any

from constructs_pd.findings import Finding
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.facts import gather
from constructs_pd.planning.rules.rule import Rule
from support.specs import spec_with


def findings_of(rule: Rule, changes: dict[str, Any] | None = None) -> list[Finding]:
    """Return what a rule finds in the changed reference specification."""
    return list(rule.findings(gather(spec_with(changes), load_catalog())))
