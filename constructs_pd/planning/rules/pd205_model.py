"""PD205: the model's attention kind is known."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.rules.suggest import known_names


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation when the model has no row."""
    if facts.model is None:
        name = facts.spec.model.source
        yield Violation(
            "model.source",
            f"{name!r} is none of the {len(facts.catalog.models)} models whose attention is known",
            f"{known_names(name, facts.catalog.models)}; otherwise give its facts in custom_models",
        )


RULE = Rule(
    code="PD205",
    severity=Severity.ERROR,
    title="The model's attention kind is known",
    rationale=(
        "A hybrid model served as a plain one fails at engine start (conv state layout) or hands over wrong state; "
        "guessing is not an option."
    ),
    source="vLLM 0.26.0 nixl/base_worker.py; vllm-project/vllm PR#41869, #54387",
    check=check,
)
