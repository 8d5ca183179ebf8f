"""PD304: it is known that both phases' GPUs run the same attention backend."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.attention import default_backend, stated_backend
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for GPUs of two compute capabilities and a model whose backend is not known on one of them."""
    model, instances = facts.model, [phase.instance for phase in facts.phases]
    if model is None or None in instances or any(stated_backend(phase.spec.engine_args) for phase in facts.phases):
        return
    first, second = (instance.gpu.compute_capability for instance in instances if instance is not None)
    backends = [default_backend(capability, facts.spec.model.kv_cache_dtype, model) for capability in (first, second)]
    if first != second and None in backends:
        yield Violation(
            "prefill.instance_type",
            f"the GPUs have compute capability {first} and {second}, and nobody says whether vLLM chooses one backend "
            f"for {model.architecture} on both",
            "choose instance types of one GPU generation, or state the same attention_backend in engine_args of both "
            "phases",
        )


RULE = Rule(
    code="PD304",
    severity=Severity.WARNING,
    title="It is known that both phases run the same attention backend",
    rationale="Its name is in the hash by which NIXL's handshake accepts a peer: every request is refused.",
    source="vLLM 0.26.0 platforms/cuda.py, _get_backend_priorities; sparse latent attention, heads above 256 and "
    "attention in both directions depend on what the engine finds when it starts",
    check=check,
)
