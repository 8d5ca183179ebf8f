"""PD106: no field holds a credential."""

from collections.abc import Iterator
from typing import Any

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.redaction import holds_credential


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for every field whose text has the shape of a credential."""
    for path, text in _texts(facts.spec.model_dump(mode="json"), ""):
        if holds_credential(text):
            yield Violation(
                path,
                f"{len(text)} characters that look like a credential (they are not repeated here)",
                "put it into a Kubernetes Secret, refer to it by secret_name and key, and revoke it",
            )


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, f"{path}.{index}")


RULE = Rule(
    code="PD106",
    severity=Severity.ERROR,
    title="No field holds a credential",
    rationale="It would stand in the manifests, in the repository and in every build log.",
    source="the documented shapes of Hugging Face tokens, AWS access keys and OpenAI-style keys",
    check=check,
)
