"""The CDK's kubectl: a Lambda function that applies manifests and charts to a cluster."""

from __future__ import annotations

from typing import Final

from aws_cdk import Stack, Tags, aws_eks_v2, aws_iam, aws_lambda
from constructs import Construct, IConstruct

from constructs_pd.aws.nag import acknowledge
from constructs_pd.planning.cluster_plan import EksClusterPlan

LOGS_AND_NETWORK: Final = "service-role/AWSLambdaVPCAccessExecutionRole"
LOGS: Final = "service-role/AWSLambdaBasicExecutionRole"
AWS_OWN: Final = "AWS maintains what a function in a VPC needs: interfaces and a log"


def kubectl_options(
    scope: Construct, planned: EksClusterPlan, layer: aws_lambda.ILayerVersion
) -> aws_eks_v2.KubectlProviderOptions:
    """Return the options of a cluster's kubectl, with a role that may do no more than it does.

    The CDK's own role may read every image of the account too, for charts in ECR; none of the plan's is there.
    """
    role = aws_iam.Role(
        scope,
        "KubectlRole",
        assumed_by=aws_iam.ServicePrincipal("lambda.amazonaws.com"),
        description=f"applies charts and manifests to {planned.name}",
        managed_policies=[aws_iam.ManagedPolicy.from_aws_managed_policy_name(LOGS_AND_NETWORK)],
        inline_policies={
            "cluster": aws_iam.PolicyDocument(
                statements=[
                    aws_iam.PolicyStatement(
                        actions=["eks:DescribeCluster"],
                        resources=[
                            Stack.of(scope).format_arn(service="eks", resource="cluster", resource_name=planned.name)
                        ],
                    )
                ]
            )
        },
    )
    acknowledge(role, f"IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{LOGS_AND_NETWORK}]", AWS_OWN)
    for key, value in planned.tags.items():
        Tags.of(role).add(key, value)
    return aws_eks_v2.KubectlProviderOptions(kubectl_layer=layer, role=role.without_policy_updates())


def acknowledge_provider(cluster: IConstruct) -> None:
    """Accept what cdk-nag says of the functions that the CDK makes."""
    provider = cluster.node.find_child("KubectlProvider")
    handler = provider.node.find_child("Handler").node.default_child
    assert isinstance(handler, aws_lambda.CfnFunction)
    handler_id = Stack.of(cluster).resolve(handler.logical_id)
    for policy in (LOGS, LOGS_AND_NETWORK):
        acknowledge(provider, f"IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{policy}]", AWS_OWN)
    acknowledge(provider, f"IAM5[Resource::<{handler_id}.Arn>:*]", "the CDK's framework calls versions of one function")
    acknowledge(provider, "L1", "the CDK chooses the runtime that it tested its function with")
