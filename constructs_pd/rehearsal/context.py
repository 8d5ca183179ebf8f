"""How long a conversation with a plan's deployment may be."""

from __future__ import annotations

from constructs_pd.planning.deployment_plan import DeploymentPlan


def context_tokens(plan: DeploymentPlan) -> int:
    """Return the longest context that both phases serve, in tokens."""
    return min(int(str(phase.engine_arguments["max_model_len"])) for phase in plan.phases)
