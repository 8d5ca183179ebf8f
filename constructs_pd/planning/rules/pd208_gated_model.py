"""PD208: a gated model has a token."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a gated model without a reference to a token, unless nothing is downloaded."""
    if all(phase.spec.pod.environment.get("HF_HUB_OFFLINE") == "1" for phase in facts.phases):
        return
    if facts.model is not None and facts.model.gated and facts.spec.hugging_face_token is None:
        yield Violation(
            "hugging_face_token",
            f"{facts.model.model} is gated: it needs 1 token, and 0 are given",
            "add hugging_face_token: {secret_name: ..., key: ...} with a token that may read the model",
        )


RULE = Rule(
    code="PD208",
    severity=Severity.ERROR,
    title="A gated model has a token",
    rationale="The download fails with 401 inside the engine, and the replicas restart for ever.",
    source="ray-project/ray#54812",
    check=check,
)
