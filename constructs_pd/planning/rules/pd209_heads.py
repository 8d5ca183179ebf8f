"""PD209: the model's attention heads split evenly over an engine's GPUs."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase whose tensor parallel size does not divide the heads."""
    model = facts.model
    if model is None:
        return
    for phase in facts.phases:
        size = phase.tensor_parallel
        if size is None:
            continue
        subject = f"{phase.name}.tensor_parallel"
        if model.attention_heads % size:
            yield Violation(
                subject,
                f"{model.attention_heads} attention heads of {model.model} do not split over {size} GPUs",
                f"choose a divisor of {model.attention_heads}",
            )
        elif model.kv_heads % size and size % model.kv_heads:
            yield Violation(
                subject,
                f"{model.kv_heads} KV heads of {model.model} neither split over {size} GPUs nor repeat on them",
                f"choose a divisor or a multiple of {model.kv_heads}",
            )


def worked(facts: Facts) -> Iterator[str]:
    """Yield the heads of the model on the GPUs of each phase."""
    model = facts.model
    if model is None:
        yield f"{facts.spec.model.source} is not known, see PD205"
        return
    for phase in facts.phases:
        size = "not known, see PD201" if phase.tensor_parallel is None else f"{phase.tensor_parallel}"
        yield f"{phase.name}: {model.attention_heads} heads, {model.kv_heads} key/value heads, tensor_parallel {size}"


RULE = Rule(
    code="PD209",
    severity=Severity.ERROR,
    title="The model's attention heads split evenly over an engine's GPUs",
    rationale="vLLM refuses to load the model, after the pods have started.",
    source="vLLM 0.26.0 config/model.py, verify_with_parallel_config",
    check=check,
    arithmetic=("attention heads are a multiple of tensor_parallel; key/value heads are a multiple or a divisor of it"),
    worked=worked,
)
