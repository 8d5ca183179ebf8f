"""What cdk-nag's AwsSolutions says of the constructs and is accepted, each with its reason."""

from __future__ import annotations

from aws_cdk import Acknowledgment, Validations
from constructs import IConstruct


def acknowledge(construct: IConstruct, finding: str, reason: str) -> None:
    """Accept a finding at a construct and below it, such as `VPC7` or `IAM5[Resource::*]`."""
    Validations.of(construct).acknowledge(Acknowledgment(id=f"AwsSolutions::AwsSolutions-{finding}", reason=reason))
