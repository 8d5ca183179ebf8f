"""The network of a new EKS cluster."""

from __future__ import annotations

from typing import Final

from aws_cdk import Acknowledgment, CfnResource, Tags, Validations, aws_ec2
from constructs import Construct

from constructs_pd.aws.nag import acknowledge
from constructs_pd.aws.planned_cluster import planned_cluster
from constructs_pd.aws.region import require_region
from constructs_pd.composition import require_plan
from constructs_pd.planning.cluster_plan import NetworkPlan, ZonePlan
from constructs_pd.planning.deployment_plan import DeploymentPlan

# EKS user guide, Network load balancing on EKS: how controllers find the subnets of a balancer.
INTERNAL_BALANCER_TAG: Final = "kubernetes.io/role/internal-elb"
INTERNET_BALANCER_TAG: Final = "kubernetes.io/role/elb"
WAYS: Final = (aws_ec2.CfnRoute, aws_ec2.CfnSubnetRouteTableAssociation)


class EksNetwork(Construct):
    """A VPC with a public and a private subnet in each of the plan's zones.

    The zones come from the plan, so nothing is looked up in AWS. That is why the VPC is not the CDK's `Vpc`, which
    asks AWS for zones wherever a stack has both an account and a region.

    Args:
        scope: Parent construct.
        id: Construct id.
        plan: The plan to render; its specification states `eks_cluster`.

    Attributes:
        plan: The plan that this construct renders.
        vpc: The VPC, as other constructs take it.
        vpc_id: Its id.
        gpu_subnet: The private subnet in the zone of the GPU nodes.
        private_subnets: A private subnet for each zone, that of the GPU nodes first.
        public_subnets: A public subnet for each zone, likewise.
        ways_out: What must be there before anything in a private subnet reaches AWS or the internet.

    Raises:
        PlanError: The plan has no new cluster (PD516), or is for another region than the stack's (PD510).
    """

    def __init__(self, scope: Construct, id: str, *, plan: DeploymentPlan) -> None:
        super().__init__(scope, id)
        self.plan = require_plan(self, plan)
        require_region(self, plan)
        cluster = planned_cluster(self, plan)
        network = cluster.network
        vpc = aws_ec2.CfnVPC(
            self, "Resource", cidr_block=network.cidr, enable_dns_hostnames=True, enable_dns_support=True
        )
        self.vpc_id = vpc.ref
        gateway = aws_ec2.CfnInternetGateway(self, "InternetGateway")
        attachment = aws_ec2.CfnVPCGatewayAttachment(
            self, "Attachment", vpc_id=vpc.ref, internet_gateway_id=gateway.ref
        )
        self.ways_out: list[CfnResource] = [attachment]
        self.public_subnets: list[aws_ec2.ISubnet] = []
        self.private_subnets: list[aws_ec2.ISubnet] = []
        nat_gateways: list[str] = []
        for number, zone in enumerate(network.zones):
            public = aws_ec2.PublicSubnet(
                self,
                f"Public{number}",
                vpc_id=vpc.ref,
                availability_zone=zone.zone,
                cidr_block=zone.public_cidr,
                # Only NAT gateways and balancers stand in it; they bring their own addresses.
                map_public_ip_on_launch=False,
            )
            public.add_default_internet_route(gateway.ref, attachment)
            if zone.has_nat_gateway:
                nat_gateways.append(public.add_nat_gateway().ref)
            private = aws_ec2.PrivateSubnet(
                self,
                f"Private{number}",
                vpc_id=vpc.ref,
                availability_zone=zone.zone,
                cidr_block=zone.private_cidr,
                map_public_ip_on_launch=False,
            )
            private.add_default_nat_route(nat_gateways[-1])
            Tags.of(public).add(INTERNET_BALANCER_TAG, "1")
            Tags.of(private).add(INTERNAL_BALANCER_TAG, "1")
            if network.zones_are_ids:
                for subnet in (public, private):
                    _place_by_id(subnet, zone)
            for subnet in (public, private):
                self.ways_out += [child for child in subnet.node.children if isinstance(child, WAYS)]
            self.public_subnets.append(public)
            self.private_subnets.append(private)
        self.gpu_subnet = self.private_subnets[0]
        self.vpc = self._imported(network)
        self._endpoints(network)
        Tags.of(vpc).add("Name", cluster.name)
        for key, value in cluster.tags.items():
            Tags.of(self).add(key, value)
        Validations.of(self).acknowledge(
            Acknowledgment(
                id="CloudFormation-Validate::W3010", reason="a plan is for its zones: EFA does not cross them"
            )
        )
        acknowledge(
            self, "VPC7", "flow logs are billed by what flows; vpc.add_flow_log() has them where an account wants them"
        )

    def _imported(self, network: NetworkPlan) -> aws_ec2.IVpc:
        return aws_ec2.Vpc.from_vpc_attributes(
            self,
            "Vpc",
            vpc_id=self.vpc_id,
            vpc_cidr_block=network.cidr,
            availability_zones=[zone.zone for zone in network.zones],
            public_subnet_ids=[subnet.subnet_id for subnet in self.public_subnets],
            public_subnet_route_table_ids=[subnet.route_table.route_table_id for subnet in self.public_subnets],
            private_subnet_ids=[subnet.subnet_id for subnet in self.private_subnets],
            private_subnet_route_table_ids=[subnet.route_table.route_table_id for subnet in self.private_subnets],
        )

    def _endpoints(self, network: NetworkPlan) -> None:
        """Have image layers come from S3 past the NAT gateway, at no cost, and the chosen services for theirs."""
        aws_ec2.GatewayVpcEndpoint(
            self,
            "S3",
            vpc=self.vpc,
            service=aws_ec2.GatewayVpcEndpointAwsService.S3,
            subnets=[aws_ec2.SubnetSelection(subnets=self.private_subnets)],
        )
        if not network.interface_endpoints:
            return
        group = aws_ec2.SecurityGroup(
            self,
            "EndpointGroup",
            vpc=self.vpc,
            description="AWS services, from the VPC",
            allow_all_outbound=False,
        )
        group.add_ingress_rule(aws_ec2.Peer.ipv4(network.cidr), aws_ec2.Port.HTTPS, "from the VPC")
        for name in network.interface_endpoints:
            aws_ec2.InterfaceVpcEndpoint(
                self,
                f"Endpoint-{name}",
                vpc=self.vpc,
                service=aws_ec2.InterfaceVpcEndpointAwsService(name),
                subnets=aws_ec2.SubnetSelection(subnets=[self.gpu_subnet]),
                security_groups=[group],
                open=False,
                private_dns_enabled=True,
            )


def _place_by_id(subnet: aws_ec2.Subnet, zone: ZonePlan) -> None:
    resource = subnet.node.default_child
    assert isinstance(resource, aws_ec2.CfnSubnet)
    resource.availability_zone = None
    resource.availability_zone_id = zone.zone
