"""IAM roles of pods, which they get through EKS Pod Identity."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

from aws_cdk import Aws, Tags, aws_iam
from constructs import Construct

from constructs_pd.aws.nag import acknowledge
from constructs_pd.planning.cluster_plan import PodPermissions

PARTITION: Final = "arn:aws:"
# Why policies are used that are wider than one deployment's resources.
MANAGED: Final = "AWS maintains it together with the add-on that it is for"
PUBLISHED: Final = "the controller's own policy, as its release publishes it; it bounds what it changes by tags"


def pod_role(scope: Construct, id: str, *, permissions: PodPermissions, tags: Mapping[str, str]) -> aws_iam.Role:
    """Return the role of a ServiceAccount's pods (EKS user guide, Learn how EKS Pod Identity grants pods access)."""
    role = aws_iam.Role(
        scope,
        id,
        assumed_by=aws_iam.ServicePrincipal("pods.eks.amazonaws.com"),
        description=f"{permissions.namespace}/{permissions.service_account}",
        managed_policies=[
            aws_iam.ManagedPolicy.from_aws_managed_policy_name(name) for name in permissions.managed_policies
        ],
    )
    assert role.assume_role_policy is not None
    role.assume_role_policy.add_statements(
        aws_iam.PolicyStatement(
            actions=["sts:TagSession"], principals=[aws_iam.ServicePrincipal("pods.eks.amazonaws.com")]
        )
    )
    for name in permissions.managed_policies:
        acknowledge(role, f"IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{name}]", MANAGED)
    if permissions.policy_file is not None:
        _attach(role, permissions.policy_file)
    for key, value in tags.items():
        Tags.of(role).add(key, value)
    return role


def _attach(role: aws_iam.Role, file_name: str) -> None:
    document = _document(file_name)
    policy = aws_iam.ManagedPolicy(
        role, "Policy", roles=[role], document=aws_iam.PolicyDocument.from_json(document), description=file_name
    )
    wildcards = {
        value
        for statement in document["Statement"]
        for kind in ("Action", "Resource")
        for value in ([statement[kind]] if isinstance(statement[kind], str) else statement[kind])
        if "*" in value
    }
    for value in sorted(wildcards):
        kind = "Resource" if value == "*" or value.startswith("arn:") else "Action"
        acknowledge(policy, f"IAM5[{kind}::{value.replace(Aws.PARTITION, '<AWS::Partition>')}]", PUBLISHED)


def _document(file_name: str) -> Any:
    """Return a policy with the ARNs of the stack's partition."""
    text = files(__package__).joinpath("policies", file_name).read_text(encoding="utf-8")
    return json.loads(text.replace(PARTITION, f"arn:{Aws.PARTITION}:"))
