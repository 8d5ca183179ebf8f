"""PD301: the two phases' tensor parallel sizes can hand a KV cache over."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a pair that differs on a hybrid model, or that is not P <= D with P dividing D."""
    prefill, decode, model = facts.prefill.tensor_parallel, facts.decode.tensor_parallel, facts.model
    if prefill is None or decode is None or model is None or prefill == decode:
        return
    pair = f"prefill {prefill}, decode {decode}"
    if model.attention == "hybrid":
        yield Violation(
            "prefill.tensor_parallel",
            f"{pair}: {model.model} is hybrid and needs the same size on both sides",
            f"set both to {max(prefill, decode)}, on instance types with as many GPUs",
        )
    elif prefill > decode or decode % prefill:
        yield Violation(
            "prefill.tensor_parallel",
            f"{pair}: prefill's must divide decode's",
            f"set both to {max(prefill, decode)}, or prefill's to a divisor of {decode}",
        )


RULE = Rule(
    code="PD301",
    severity=Severity.ERROR,
    title="Prefill's tensor parallel size divides decode's; on hybrid models both are equal",
    rationale="The handshake refuses a larger prefill whose KV heads are replicated, and a hybrid model with unequal "
    "sizes; other pairs with a larger prefill have crashed or read wrong blocks, so none is offered.",
    source="vllm-project/vllm#43523, #42895, #37638; vLLM 0.26.0 nixl/base_worker.py, _validate_remote_agent_handshake",
    check=check,
)
