"""The OpenAI conformance suite, run over a rehearsal's endpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.rehearsal.checks import Check
from constructs_pd.rehearsal.context import context_tokens
from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.nodes import NODE_ADDRESS

if TYPE_CHECKING:
    from constructs_pd.conformance.run import Report


def require_conformance_suite() -> None:
    """Refuse to start without the suite's HTTP clients.

    Raises:
        RehearsalError: They are not installed.
    """
    try:
        import constructs_pd.conformance.run  # noqa: F401
    except ImportError as error:
        raise RehearsalError(str(error), "or install what `make lint` installs") from None


def conformance_checks(plan: DeploymentPlan, port: int, tell: Callable[[str], None]) -> list[Check]:
    """Run the suite against the running endpoint and return a check for what passed, and one for each failure."""
    from constructs_pd.conformance.checks import CHECKS
    from constructs_pd.conformance.problems import EndpointError
    from constructs_pd.conformance.run import run
    from constructs_pd.conformance.settings import Settings

    settings = Settings(
        base_url=f"http://{NODE_ADDRESS}:{port}/v1",
        model=plan.model.served_name,
        versions={"ray": plan.versions.ray, "vllm": plan.versions.vllm},
        context_tokens=context_tokens(plan),
        # It is on this machine, which no proxy can reach.
        asks_proxies=False,
    )
    try:
        return summary(run(settings, CHECKS, lambda result: tell(f"{result.check} {result.status}: {result.title}")))
    except EndpointError as error:
        return [Check("the endpoint can be checked for conformance", False, str(error))]


def summary(report: Report) -> list[Check]:
    """Return the suite's report as checks of a rehearsal."""
    from constructs_pd.conformance.outcome import Status

    counts = ", ".join(f"{report.count(status)} {status.value.replace('_', ' ')}" for status in Status)
    failures = [
        Check(f"{result.check}: {result.title}", False, f"expected {result.expected}, got {result.actual}")
        for result in report.results
        if result.status is Status.FAILED
    ]
    return [Check("the endpoint keeps to OpenAI's API", report.is_conforming, counts), *failures]
