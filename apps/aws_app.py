"""The CDK app of a deployment: `cdk synth` and `cdk deploy` run it.

The specification is apps/reference.yaml, or the file that CONSTRUCTS_PD_SPEC names. With `eks_cluster` it makes stacks
from the network up, else one stack of GPU nodes for a cluster that exists.
"""

import os
import sys
from pathlib import Path

from aws_cdk import App
from existing_cluster import GpuNodesStack
from new_cluster import new_cluster

from constructs_pd import PlanError, plan_or_exit

REFERENCE = Path(__file__).with_name("reference.yaml")


def main() -> None:
    """Plan first: on errors nothing is written and the program ends with status 1."""
    plan = plan_or_exit(os.environ.get("CONSTRUCTS_PD_SPEC", REFERENCE))
    app = App()
    try:
        if plan.eks_cluster is None:
            GpuNodesStack(app, plan)
        else:
            new_cluster(app, plan)
    except PlanError as error:  # such as no kubectl of the cluster's version
        sys.exit(str(error))
    app.synth()


if __name__ == "__main__":
    main()
