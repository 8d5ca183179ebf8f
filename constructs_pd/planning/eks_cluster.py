"""What is decided of a new EKS cluster."""

from __future__ import annotations

from constructs_pd.planning import defaults
from constructs_pd.planning.addons import addons
from constructs_pd.planning.cluster_plan import EksClusterPlan, SystemNodesPlan
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.labels import tags
from constructs_pd.planning.network_plan import network_plan
from constructs_pd.planning.node_plan import VolumePlan
from constructs_pd.planning.spec import DeploymentSpec
from constructs_pd.planning.spec_cluster import NewCluster


def eks_cluster_plan(facts: Facts) -> EksClusterPlan | None:
    """Decide everything about the cluster that is made for the deployment, or none where one exists."""
    spec, stated = facts.spec, facts.spec.eks_cluster
    if stated is None:
        return None
    name = cluster_name(spec)
    return EksClusterPlan(
        name=name,
        network=network_plan(stated, spec.availability_zone),
        log_types=defaults.CONTROL_PLANE_LOGS,
        log_group_name=f"/aws/eks/{name}/cluster",
        log_retention_days=stated.log_retention_days,
        public_access_cidrs=stated.public_access_cidrs,
        system_nodes=_system_nodes(stated, spec),
        addons=addons(facts),
        tags=tags(spec),
    )


def cluster_name(spec: DeploymentSpec) -> str:
    """Return the name of the new cluster."""
    stated = spec.eks_cluster
    return stated.name if stated is not None and stated.name is not None else spec.name


def _system_nodes(cluster: NewCluster, spec: DeploymentSpec) -> SystemNodesPlan:
    selected = {key: value for key, value in spec.head.node_selector.items() if key != defaults.ARCHITECTURE_LABEL[0]}
    return SystemNodesPlan(
        instance_type=cluster.system_nodes.instance_type,
        count=cluster.system_nodes.count,
        max_unavailable_nodes=defaults.MAX_UNAVAILABLE_NODES,
        ami_type=defaults.SYSTEM_AMI_TYPE,
        kubernetes_version=spec.kubernetes_version,
        labels={defaults.ROLE_LABEL: defaults.SYSTEM_ROLE, **selected},
        root_volume=VolumePlan(
            device_name=defaults.ROOT_DEVICE,
            type="gp3",
            size_gib=defaults.SYSTEM_VOLUME_GIB,
            iops=defaults.ROOT_VOLUME_IOPS,
            throughput_mib_per_second=defaults.SYSTEM_VOLUME_THROUGHPUT_MIB_PER_SECOND,
        ),
        metadata_hop_limit=defaults.METADATA_HOP_LIMIT,
        tags={**tags(spec), "Name": f"{cluster_name(spec)}-system"},
    )
