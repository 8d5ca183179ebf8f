"""User data of nodes with an AMI of the user's own, to which EKS adds nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping

from constructs_pd.planning.node_plan import NodeGroupPlan

BOUNDARY = "constructs-pd"


def user_data(nodes: NodeGroupPlan, cluster: Mapping[str, str]) -> str:
    """Return nodeadm's configuration in the MIME form that EKS expects.

    Labels and taints stand here as well, so that no pod slips onto the node before EKS has set them.

    Args:
        nodes: The node group.
        cluster: `name`, `apiServerEndpoint`, `certificateAuthority` and `cidr`, as nodeadm calls them; tokens pass.
    """
    labels = ",".join(f"{key}={value}" for key, value in sorted(nodes.labels.items()))
    taints = ",".join(f"{taint.key}={taint.value}:{taint.effect}" for taint in nodes.taints)
    config = {
        "apiVersion": "node.eks.aws/v1alpha1",
        "kind": "NodeConfig",
        "spec": {
            "cluster": dict(cluster),
            "kubelet": {"flags": [f"--node-labels={labels}", f"--register-with-taints={taints}"]},
        },
    }
    lines = (
        "MIME-Version: 1.0",
        f'Content-Type: multipart/mixed; boundary="{BOUNDARY}"',
        "",
        f"--{BOUNDARY}",
        "Content-Type: application/node.eks.aws",
        "",
        json.dumps(config, indent=2),
        "",
        f"--{BOUNDARY}--",
        "",
    )
    return "\n".join(lines)
