"""What should be built: pure functions from a specification to a plan. Imports no jsii, no Node process."""

from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.resolve import plan
from constructs_pd.planning.spec import DeploymentSpec
from constructs_pd.planning.spec_file import load_spec, plan_file, plan_or_exit

__all__ = ["DeploymentPlan", "DeploymentSpec", "load_spec", "plan", "plan_file", "plan_or_exit"]
