"""PD301: the two phases' tensor parallel sizes can hand a KV cache over."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.attention import is_latent
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a pair that the model's kind of attention cannot hand over.

    Hybrid models need equal sizes. Of others one size must divide the other; and a prefill that is the larger may not
    have more GPUs than the model has KV heads, but for latent attention, whose cache every GPU keeps whole.
    """
    prefill, decode, model = facts.prefill.tensor_parallel, facts.decode.tensor_parallel, facts.model
    if prefill is None or decode is None or model is None or prefill == decode:
        return
    pair, larger = f"prefill {prefill}, decode {decode}", max(prefill, decode)
    if model.attention == "hybrid":
        yield Violation(
            "prefill.tensor_parallel",
            f"{pair}: {model.model} is hybrid and needs the same size on both sides",
            f"set both to {larger}, on instance types with as many GPUs",
        )
    elif larger % min(prefill, decode):
        yield Violation(
            "prefill.tensor_parallel",
            f"{pair}: one must divide the other",
            f"set both to {larger}, or one of them to a divisor of the other",
        )
    elif prefill > decode and prefill > model.kv_heads and not is_latent(model):
        yield Violation(
            "prefill.tensor_parallel",
            f"{pair}: prefill repeats the {model.kv_heads} KV heads of {model.model} on {prefill} GPUs, and decode is "
            "smaller",
            f"set both to {larger}, or prefill's to {max(model.kv_heads, decode)} or less",
        )


RULE = Rule(
    code="PD301",
    severity=Severity.ERROR,
    title="The phases' tensor parallel sizes fit the model's kind of attention",
    rationale="Decode refuses the handshake, and every request fails. Hybrid models need equal sizes; "
    "on others one size must divide the other, and a larger prefill must not repeat KV heads.",
    source="vLLM 0.26.0 nixl/base_worker.py, _validate_remote_agent_handshake, and kv_connector/utils.py, tp_ratio; "
    "vLLM documentation, NixlConnector Compatibility Matrix; its tests run 1 and 2 GPUs both ways "
    "(nixl_integration/config_sweep_accuracy_test.sh); vllm-project/vllm#42895, #37638",
    check=check,
)
