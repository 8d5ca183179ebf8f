"""PD303: both phases' GPUs run the same attention backend."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.attention import FP8, default_backend
from constructs_pd.planning.facts import Facts, PhaseFacts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for two GPUs on which vLLM chooses different backends, unless the user chooses one."""
    prefill, decode = facts.prefill, facts.decode
    if prefill.instance is None or decode.instance is None or _stated(prefill) or _stated(decode):
        return  # PD302 compares what is stated
    gpus, cache_type = (prefill.instance.gpu, decode.instance.gpu), facts.spec.model.kv_cache_dtype
    first, second = (default_backend(gpu.compute_capability, cache_type) for gpu in gpus)
    if first != second:
        yield Violation(
            "prefill.instance_type",
            f"vLLM chooses {first} on prefill's {gpus[0].name} ({gpus[0].compute_capability}) and {second} on "
            f"decode's {gpus[1].name} ({gpus[1].compute_capability})",
            "choose instance types of one GPU generation, or state attention_backend: "
            f"{'FLASHINFER' if cache_type in FP8 else 'FLASH_ATTN'} in engine_args of both phases",
        )


def _stated(phase: PhaseFacts) -> bool:
    """Return whether the user chooses a backend; vLLM reads `auto` and null as no choice."""
    arguments = phase.spec.engine_args
    config = arguments.get("attention_config")
    stated = (arguments.get("attention_backend"), config.get("backend") if isinstance(config, dict) else None)
    return any(isinstance(name, str) and name.lower() != "auto" for name in stated)


RULE = Rule(
    code="PD303",
    severity=Severity.ERROR,
    title="Both phases run the same attention backend",
    rationale="Its name is in the hash by which NIXL's handshake accepts a peer: every request is refused.",
    source="vLLM 0.26.0 nixl/metadata.py, compute_nixl_compatibility_hash; platforms/cuda.py, _get_backend_priorities",
    check=check,
)
