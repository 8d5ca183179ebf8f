"""How many pods of a group a voluntary disruption must leave."""

from constructs_pd.planning.spec import DeploymentSpec


def min_available(spec: DeploymentSpec, replicas: int) -> int | None:
    """Return all pods but one; for a single pod 1 or none (no budget), as the user says."""
    if replicas > 1:
        return replicas - 1
    return 1 if spec.single_pod_budget == "block" else None
