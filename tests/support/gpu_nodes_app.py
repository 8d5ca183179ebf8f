"""A CDK app of the reference deployment's GPU nodes, with as much of them as moto makes, for a cluster by its ids.

No placement group, which moto does not know, and no outputs, which it cannot give of a node group.
"""

from __future__ import annotations

import os

from aws_cdk import App

from constructs_pd import EksGpuNodeGroups, ExistingCluster, ExistingSubnet
from support.specs import plan_with
from support.template import stack

if __name__ == "__main__":
    plan = plan_with({"nodes.placement_group": "none"})
    app = App()
    EksGpuNodeGroups(
        stack(plan, app),
        "gpu",
        plan=plan,
        cluster=ExistingCluster(name="platform", security_group_id=os.environ["GROUP_ID"], vpc_id=os.environ["VPC_ID"]),
        subnet=ExistingSubnet(os.environ["SUBNET_ID"], availability_zone=plan.availability_zone),
    )
    app.synth()
