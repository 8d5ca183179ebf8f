"""How many examples a property test runs, and what it does with a specification that the planner refuses."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import HealthCheck, Phase, assume, event, settings

from constructs_pd import DeploymentPlan, DeploymentSpec, PlanError, plan

#: The name of the larger run: `pytest tests/properties --hypothesis-profile=thorough`. It takes a hundred times the
#: examples, new ones each time. `--hypothesis-seed=N` repeats a run.
THOROUGH: Final = "thorough"
_THOROUGH_FACTOR: Final = 100

settings.register_profile(THOROUGH)


def examples(count: int) -> settings:
    """Return settings for a number of examples, which the thorough profile multiplies.

    Without that profile it is one fixed sequence: a gate must not fail on one day and pass on the next.
    """
    thorough = settings.get_current_profile_name() == THOROUGH
    return settings(
        max_examples=count * _THOROUGH_FACTOR if thorough else count,
        derandomize=not thorough,
        database=None,
        deadline=None,
        # Explaining a failure renders it hundreds of times more.
        phases=[phase for phase in Phase if phase is not Phase.explain],
        suppress_health_check=list(HealthCheck),
    )


def planned(data: dict[str, Any]) -> DeploymentPlan:
    """Return the plan of a specification, and give the example up where the planner refuses it.

    Only a refusal gives an example up: a specification of the wrong form, or a crash, fails the test.
    """
    try:
        return plan(DeploymentSpec.model_validate(data))
    except PlanError as error:
        event("refused: " + ", ".join(sorted({finding.code for finding in error.findings})))
        assume(False)
        raise
