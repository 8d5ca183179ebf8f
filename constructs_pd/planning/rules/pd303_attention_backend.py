"""PD303: both phases' GPUs run the same attention backend."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.attention import common_backend, default_backend, stated_backend
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for two GPUs on which vLLM chooses different backends, unless the user chooses one."""
    model, instances = facts.model, [phase.instance for phase in facts.phases]
    if model is None or None in instances or any(stated_backend(phase.spec.engine_args) for phase in facts.phases):
        return  # PD302 compares what is stated
    gpus = [instance.gpu for instance in instances if instance is not None]
    cache_type = facts.spec.model.kv_cache_dtype
    first, second = (default_backend(gpu.compute_capability, cache_type, model) for gpu in gpus)
    if first is not None and second is not None and first != second:
        yield Violation(
            "prefill.instance_type",
            f"vLLM chooses {first} on prefill's {gpus[0].name} ({gpus[0].compute_capability}) and {second} on "
            f"decode's {gpus[1].name} ({gpus[1].compute_capability})",
            "choose instance types of one GPU generation, or state attention_backend: "
            f"{common_backend(model, cache_type)} in engine_args of both phases",
        )


RULE = Rule(
    code="PD303",
    severity=Severity.ERROR,
    title="Both phases run the same attention backend",
    rationale="Its name is in the hash by which NIXL's handshake accepts a peer: every request is refused.",
    source="vLLM 0.26.0 nixl/metadata.py, compute_nixl_compatibility_hash; platforms/cuda.py, _get_backend_priorities",
    check=check,
)
