"""Codes of findings that no rule makes: mistakes in a file's form, and constructs that do not fit together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from constructs_pd.findings import Finding, Severity


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of finding.

    Attributes:
        code: Stable identifier, PD0xx for files, PD5xx for constructs.
        title: What must hold, in one line.
        rationale: What happens otherwise.
        source: Where that comes from.
        severity: Whether it stops the plan.
    """

    code: str
    title: str
    rationale: str
    source: str
    severity: Severity = Severity.ERROR

    def finding(self, subject: str, message: str, remedy: str, location: str | None = None) -> Finding:
        """Return a finding with this code."""
        return Finding(self.code, self.severity, subject, message, remedy, self.source, location)


_TYPES: Final = "the specification's types (constructs_pd/planning/spec.py)"

FILE: Final = Code(
    "PD001",
    "The file is readable YAML that holds one mapping with unique keys",
    "YAML itself takes the last of two equal keys and says nothing.",
    "YAML",
)
UNKNOWN_FIELD: Final = Code(
    "PD002", "Every field exists", "A misspelled field would be a setting that is silently not made.", _TYPES
)
MISSING_FIELD: Final = Code(
    "PD003", "Every required field is there", "The planner would have to guess what to deploy, and where.", _TYPES
)
UNSOUND_VALUE: Final = Code(
    "PD004",
    "Every value has the right type and range",
    "Kubernetes, Ray or vLLM refuses it later, or reads something else into it.",
    _TYPES,
)
LITERAL_SECRET: Final = Code(
    "PD005",
    "A secret is given by reference",
    "It would stand in the manifests, in the repository and in every build log.",
    _TYPES,
)
NOTHING_TO_ACKNOWLEDGE: Final = Code(
    "PD006",
    "What is acknowledged occurs",
    "An acknowledgement that outlives its warning hides the next one of its kind.",
    "this library",
    Severity.WARNING,
)
UNSERVABLE: Final = Code(
    "PD007",
    "A workload can be served on one of the instance types that are considered",
    "Whatever is bought of them, clients wait longer than they are promised.",
    "docs/performance.md",
)
UNUSED_PRICE: Final = Code(
    "PD008",
    "Every price is of an instance type that a workload considers",
    "A misspelled name leaves the type that is meant without a price, and its options without a cost.",
    "this library",
)
TOO_LONG_REQUEST: Final = Code(
    "PD009",
    "A mean request of a workload fits the context",
    "vLLM ends an answer where the context is full: answers are shorter than is reckoned with.",
    "vLLM 0.26.0 v1/core/sched/utils.py, check_stop",
)
UNKNOWN_CONFIG: Final = Code(
    "PD010",
    "The config.json of a workload's model is known",
    "What a step of the model takes is reckoned from it: without it no number of nodes can be told.",
    "docs/performance.md",
)
OTHER_PLAN: Final = Code(
    "PD501",
    "Constructs that belong together render one plan",
    "Names, labels and ports of the two would differ.",
    "this library",
)
SECOND_SERVICE: Final = Code(
    "PD502",
    "A cluster serves one service",
    "A RayService contains its cluster; two of them would be two clusters.",
    "KubeRay 1.7.0, RayService",
)
PATCHED_CLUSTER: Final = Code(
    "PD503",
    "A cluster is patched through the service that contains it",
    "The patch would stand on an object that is no longer written, and be lost in silence.",
    "this library",
)
TAKEN_NAME: Final = Code(
    "PD504",
    "A deployment's name is used once, and a namespace is written once",
    "Of two objects with one name the last one applied wins, and nodes are selected by the deployment's name alone.",
    "Kubernetes documentation, Object Names and IDs",
)
SYSTEM_NAMESPACE: Final = Code(
    "PD505",
    "A namespace that Kubernetes creates is not written",
    "Deleting the manifests would delete it with everything in it.",
    "Kubernetes documentation, Initial namespaces",
)
UNKNOWN_OF_CLUSTER: Final = Code(
    "PD506",
    "What the node groups need of the cluster is known",
    "Nodes without the cluster's security group cannot join it; a security group needs a VPC.",
    "EKS user guide, Customize managed nodes with launch templates",
)
UNSOUND_REFERENCE: Final = Code(
    "PD507",
    "Names and ids of existing AWS resources have their form",
    "CloudFormation refuses them, or creates half of the stack before it does.",
    "EC2 and EKS API references",
)
ONE_SUBNET: Final = Code(
    "PD508",
    "GPU nodes stand in one subnet",
    "EFA does not cross zones: engines in two zones start, and never hand a KV cache over.",
    "llm-d/llm-d PR#1554; pulumi/pulumi-eks PR#1593",
)
SUBNET_ZONE: Final = Code(
    "PD509",
    "The subnet lies in the zone of the plan",
    "The pods ask for nodes of the plan's zone and stay Pending.",
    "Kubernetes documentation, Assigning Pods to Nodes",
)
STACK_REGION: Final = Code(
    "PD510",
    "The stack lies in the region of the plan",
    "The zone, the image's registry and the reservations are of another region.",
    "this library",
)
SECURITY_GROUPS: Final = Code(
    "PD511",
    "A network interface has no more security groups than EC2 permits",
    "EC2 refuses the launch template, and the node group with it.",
    "Amazon VPC User Guide, quotas: 5 security groups per network interface",
)
SERVICE_CIDR: Final = Code(
    "PD512",
    "Nodes with an AMI of the user's own are told how to join the cluster",
    "EKS adds no user data to such a node; without its own it never joins.",
    "EKS user guide, Customize managed nodes with launch templates, Amazon Linux 2023 user data",
)
UNSUITABLE_CLUSTER: Final = Code(
    "PD513",
    "The cluster takes the nodes in",
    "Nodes that the cluster does not know, or of another version or kind of address, never become ready.",
    "EKS user guide, Grant IAM users access to Kubernetes APIs; Kubernetes documentation, Version Skew Policy",
)
PUBLIC_SUBNET: Final = Code(
    "PD514",
    "Nodes with several network interfaces stand in a private subnet",
    "EC2 gives such a node no public address: it does not reach the cluster's endpoint, nor a registry.",
    "EC2 User Guide, Public IPv4 addresses: instances with several network interfaces",
)
OTHER_VPC: Final = Code(
    "PD515",
    "The subnet lies in the cluster's VPC",
    "EC2 refuses the launch template: a security group does not cross VPCs.",
    "EKS user guide, Amazon EKS networking requirements for VPC and subnets",
)
NO_NEW_CLUSTER: Final = Code(
    "PD516",
    "A construct of a new cluster has a plan with one",
    "It would have nothing to render.",
    "this library",
)
KUBECTL_LAYER: Final = Code(
    "PD517",
    "The kubectl that the CDK applies with fits the cluster's version",
    "kubectl is supported one minor version beside the API server's; without one nothing is applied at all.",
    "Kubernetes documentation, Version Skew Policy; aws/aws-cdk#24580, #34759",
)
NO_KUBECTL: Final = Code(
    "PD518",
    "The CDK can apply to the cluster",
    "A chart or a manifest would be refused by the CDK with a stack of its own.",
    "aws-cdk-lib aws_eks_v2, Cluster: kubectl_provider_options; ClusterAttributes: kubectl_provider",
)
ADMINS: Final = Code(
    "PD519",
    "Administrators are IAM roles and users, each once",
    "EKS refuses the access entry after the control plane was made, and CloudFormation takes the cluster back.",
    "EKS user guide, Create access entries: a role that was assumed is named by its role",
)
WRONG_ARGUMENT: Final = Code(
    "PD520",
    "A construct is given what it is made of",
    "It would end in an error of the language instead of one that says what to pass.",
    "this library",
)
TAKEN_HOST: Final = Code(
    "PD521",
    "A load balancer's host and path lead to one service",
    "Each endpoint has a balancer of its own, and a DNS name leads to one: clients of the other meet a stranger.",
    "AWS Load Balancer Controller 3.5.0, IngressGroup; Kubernetes documentation, Ingress",
)
NO_GATEWAY: Final = Code(
    "PD522",
    "A construct of the gateway has a plan with one",
    "It would have nothing to render.",
    "this library",
)
NO_MONITORING: Final = Code(
    "PD523",
    "A construct of monitoring has a plan with it",
    "It would have nothing to render.",
    "this library",
)
NO_DASHBOARDS: Final = Code(
    "PD524",
    "What makes dashboards is installed where a plan has them",
    "They cannot be written, and the rest is not written without them.",
    "this library",
)

OTHER_CODES: Final = (
    FILE,
    UNKNOWN_FIELD,
    MISSING_FIELD,
    UNSOUND_VALUE,
    LITERAL_SECRET,
    NOTHING_TO_ACKNOWLEDGE,
    UNSERVABLE,
    UNUSED_PRICE,
    TOO_LONG_REQUEST,
    UNKNOWN_CONFIG,
    OTHER_PLAN,
    SECOND_SERVICE,
    PATCHED_CLUSTER,
    TAKEN_NAME,
    SYSTEM_NAMESPACE,
    UNKNOWN_OF_CLUSTER,
    UNSOUND_REFERENCE,
    ONE_SUBNET,
    SUBNET_ZONE,
    STACK_REGION,
    SECURITY_GROUPS,
    SERVICE_CIDR,
    UNSUITABLE_CLUSTER,
    PUBLIC_SUBNET,
    OTHER_VPC,
    NO_NEW_CLUSTER,
    KUBECTL_LAYER,
    NO_KUBECTL,
    ADMINS,
    WRONG_ARGUMENT,
    TAKEN_HOST,
    NO_GATEWAY,
    NO_MONITORING,
    NO_DASHBOARDS,
)
