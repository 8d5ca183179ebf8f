"""Every check, in the order in which they run."""

from typing import Final

from constructs_pd.conformance.check import Check
from constructs_pd.conformance.checks import (
    answers,
    canary,
    errors,
    limits,
    models,
    sampling,
    stop,
    streaming,
    structured,
    usage,
)

CHECKS: Final[tuple[Check, ...]] = (
    *models.CHECKS,
    *answers.CHECKS,
    *streaming.CHECKS,
    *limits.CHECKS,
    *stop.CHECKS,
    *sampling.CHECKS,
    *usage.CHECKS,
    *errors.CHECKS,
    *structured.CHECKS,
    *canary.CHECKS,
)
