"""Who administers a new cluster."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from aws_cdk import Token
from constructs import Construct

from constructs_pd.composition import refusal
from constructs_pd.planning.codes import ADMINS

# IAM User Guide, IAM ARNs; a session of an assumed role has another service, sts.
PRINCIPAL_ARN: Final = r"arn:aws[a-z-]*:iam::\d{12}:(role|user)/[\w+=,.@/-]+"


def require_admins(construct: Construct, arns: Any) -> Sequence[str]:
    """Return the ARNs of administrators; what is known at deploy time only passes.

    Raises:
        PlanError: PD519.
    """
    remedy = "pass a list of ARNs such as arn:aws:iam::111122223333:role/admin"
    if not isinstance(arns, list | tuple):
        raise refusal(ADMINS, construct.node, f"admin_arns is a {type(arns).__name__}, not a list", remedy)
    for arn in arns:
        if not isinstance(arn, str) or not (Token.is_unresolved(arn) or re.fullmatch(PRINCIPAL_ARN, arn)):
            raise refusal(ADMINS, construct.node, f"{arn!r} is no IAM role or user", remedy)
    if len(set(arns)) < len(arns):
        raise refusal(ADMINS, construct.node, f"{len(arns)} administrators, {len(set(arns))} different ones", remedy)
    return arns
