"""What should be built: pure functions from a specification to a plan. Imports no jsii, no Node process."""

from constructs_pd.planning.catalog.rows import Efa, Gpu, ImageRow, InstanceRow, ModelRow, ModelSizes
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.model_spec import ModelSpec
from constructs_pd.planning.models.errors import ModelConfigError
from constructs_pd.planning.resolve import plan
from constructs_pd.planning.spec import DeploymentSpec, Endpoint, GcsFaultTolerance, Image, Model, Upgrade
from constructs_pd.planning.spec_cluster import NewCluster, SystemNodes
from constructs_pd.planning.spec_errors import parse_spec
from constructs_pd.planning.spec_file import load_spec, plan_file, plan_or_exit
from constructs_pd.planning.spec_gateway import ApiKeysSecret, Gateway
from constructs_pd.planning.spec_monitoring import Monitoring, Slo
from constructs_pd.planning.spec_nodes import Nodes, Reservation
from constructs_pd.planning.spec_pods import Head, ModelCache, Phase, Pod, SecretReference, Toleration
from constructs_pd.planning.spec_traffic import Traffic

__all__ = [
    "ApiKeysSecret",
    "DeploymentPlan",
    "DeploymentSpec",
    "Efa",
    "Endpoint",
    "Gateway",
    "GcsFaultTolerance",
    "Gpu",
    "Head",
    "Image",
    "ImageRow",
    "InstanceRow",
    "Model",
    "ModelCache",
    "ModelConfigError",
    "ModelRow",
    "ModelSizes",
    "ModelSpec",
    "Monitoring",
    "NewCluster",
    "Nodes",
    "Phase",
    "Pod",
    "Reservation",
    "SecretReference",
    "Slo",
    "SystemNodes",
    "Toleration",
    "Traffic",
    "Upgrade",
    "load_spec",
    "parse_spec",
    "plan",
    "plan_file",
    "plan_or_exit",
]
