"""What the constructs of both halves share: how they know each other, and how they refuse.

A construct that does not fit beside another is refused like everything else: with a code and a remedy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from constructs import IConstruct, Node

from constructs_pd.findings import PlanError
from constructs_pd.planning.codes import OTHER_PLAN, TAKEN_NAME, WRONG_ARGUMENT, Code
from constructs_pd.planning.deployment_plan import DeploymentPlan


class Planned(Protocol):
    """A construct that renders a plan."""

    plan: DeploymentPlan

    @property
    def node(self) -> Node:
        """The construct's place in the tree."""


def require_plan(construct: IConstruct, plan: Any) -> DeploymentPlan:
    """Return the plan that a construct was given.

    Raises:
        PlanError: It is something else (PD520).
    """
    if isinstance(plan, DeploymentPlan):
        return plan
    raise wrong_argument(construct, "plan", plan, "pass what plan(), plan_file() or plan_or_exit() returned")


def require_kind(construct: IConstruct, name: str, given: Any, kind: type[Planned]) -> None:
    """Refuse an argument that is not a construct of one kind.

    Raises:
        PlanError: PD520.
    """
    if not isinstance(given, kind):
        raise wrong_argument(construct, name, given, f"pass the {kind.__name__} of the same plan")


def wrong_argument(construct: IConstruct, name: str, given: Any, remedy: str) -> PlanError:
    """Return the refusal of an argument of another kind, PD520."""
    return refusal(WRONG_ARGUMENT, construct.node, f"{name} is a {type(given).__name__}", remedy)


def require_unique(
    construct: Planned, neighbours: Iterable[IConstruct], name: Callable[[Any], str], kind: type[Planned] | None = None
) -> None:
    """Refuse a construct beside another of a kind, by default its own, with the same name.

    Raises:
        PlanError: PD504.
    """
    for other in neighbours:
        # The type first: every path asks Node.
        if not isinstance(other, kind or type(construct)) or other.node.path == construct.node.path:
            continue
        if name(other) == name(construct):
            raise refusal(
                TAKEN_NAME,
                construct.node,
                f"{other.node.path} has {name(other)!r} already",
                "use a name once, also across namespaces, with one construct of each kind; write a namespace once",
            )


def require_one_plan(construct: IConstruct, plan: DeploymentPlan, other: Planned) -> None:
    """Refuse a construct beside another that renders a different plan; warnings do not count.

    Raises:
        PlanError: PD501.
    """
    if _without_findings(other.plan) != _without_findings(plan):
        raise refusal(
            OTHER_PLAN,
            construct.node,
            f"{other.node.path} was made from another plan (of {other.plan.name!r}) than this one (of {plan.name!r})",
            "make both from one plan",
        )


def refusal(code: Code, place: Node, message: str, remedy: str) -> PlanError:
    """Return the error of a construct that cannot be made at its place."""
    return PlanError([code.finding(place.path, message, remedy)])


def _without_findings(plan: DeploymentPlan) -> DeploymentPlan:
    return plan.model_copy(update={"findings": ()})
