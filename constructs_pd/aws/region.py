"""The region of a stack and of the plan that it renders."""

from __future__ import annotations

from aws_cdk import Stack, Token
from constructs import Construct

from constructs_pd.composition import refusal
from constructs_pd.planning.codes import STACK_REGION
from constructs_pd.planning.deployment_plan import DeploymentPlan


def require_region(construct: Construct, plan: DeploymentPlan) -> None:
    """Refuse a stack of another region than the plan's; one that is known at deploy time only passes.

    Raises:
        PlanError: PD510.
    """
    region = Stack.of(construct).region
    if not Token.is_unresolved(region) and region != plan.region:
        raise refusal(
            STACK_REGION,
            construct.node,
            f"the stack is in {region!r}, the plan is for {plan.region!r}",
            f"make the stack with Environment(region={plan.region!r}), or plan for {region!r}",
        )
