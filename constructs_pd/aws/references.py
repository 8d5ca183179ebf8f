"""Names and ids that a user gives as text, checked before they reach a template."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from aws_cdk import Token
from constructs import Construct

from constructs_pd.composition import refusal
from constructs_pd.planning.codes import UNSOUND_REFERENCE

# What aws-cdk-lib 2.275.0 returns for a lookup that the CLI has yet to make (aws-ec2/lib/vpc.js, aws-ssm); the app runs
# again with the real values.
_PLACEHOLDER: Final = re.compile(r"(vpc|subnet|s|p|i)-(12345|67890)|dummy1[a-c]|dummy-value-for-.*")


@dataclass(frozen=True, slots=True)
class Form:
    """What a kind of name or id looks like.

    Attributes:
        what: What it is called.
        pattern: What it matches as a whole.
        example: One of them.
    """

    what: str
    pattern: str
    example: str


_ID = r"[0-9a-f]{8}([0-9a-f]{9})?"
CLUSTER_NAME: Final = Form("an EKS cluster's name", r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}", "inference")
SECURITY_GROUP_ID: Final = Form("a security group id", rf"sg-{_ID}", "sg-0123456789abcdef0")
SUBNET_ID: Final = Form("a subnet id", rf"subnet-{_ID}", "subnet-0123456789abcdef0")
VPC_ID: Final = Form("a VPC id", rf"vpc-{_ID}", "vpc-0123456789abcdef0")


def is_open(value: str) -> bool:
    """Return whether a value is known later only: at deploy time, or once the CLI has looked it up."""
    return Token.is_unresolved(value) or _PLACEHOLDER.fullmatch(value) is not None


def require_form(construct: Construct, form: Form, value: Any) -> str:
    """Return a name or an id that can be one; what is known later passes.

    Raises:
        PlanError: PD507.
    """
    if isinstance(value, str) and (is_open(value) or re.fullmatch(form.pattern, value)):
        return value
    raise refusal(UNSOUND_REFERENCE, construct.node, f"{value!r} is not {form.what}", f"it looks like {form.example}")
