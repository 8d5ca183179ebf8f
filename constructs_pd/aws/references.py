"""Names and ids that a user gives as text, checked before they reach a template."""

from __future__ import annotations

import re

from aws_cdk import Token
from constructs import Construct

from constructs_pd.composition import refusal
from constructs_pd.planning.codes import UNSOUND_REFERENCE


def require_form(construct: Construct, what: str, value: str, pattern: str) -> None:
    """Refuse a name or an id that cannot be one; what is known at deploy time only passes.

    Raises:
        PlanError: PD507.
    """
    if not Token.is_unresolved(value) and not re.fullmatch(pattern, value):
        raise refusal(
            UNSOUND_REFERENCE, construct.node, f"{value!r} is not {what}", f"it has the form of the pattern {pattern}"
        )
