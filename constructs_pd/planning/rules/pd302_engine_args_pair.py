"""PD302: engine arguments that shape the model, its output or its KV cache are equal on both sides."""

from collections.abc import Iterator

from pydantic import JsonValue

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

# What changes the model, its output or the layout of its KV cache. The rest may differ: it is capacity, loading or
# logging. Where only one side states an argument, that side may state vLLM's default; nobody can tell from here.
COMPARED = (
    "attention_backend",
    "attention_config",
    "block_size",
    "calculate_kv_scales",
    "code_revision",
    "config_format",
    "disable_sliding_window",
    "enable_lora",
    "hf_config_path",
    "hf_overrides",
    "kv_cache_dtype_skip_layers",
    "language_model_only",
    "mamba_block_size",
    "mamba_cache_dtype",
    "mamba_cache_mode",
    "mamba_ssm_cache_dtype",
    "model_class_overrides",
    "model_impl",
    "override_attention_dtype",
    "quantization",
    "quantization_config",
    "spec_method",
    "spec_model",
    "spec_tokens",
    "speculative_config",
    "tokenizer",
    "tokenizer_mode",
    "tokenizer_revision",
    "trust_remote_code",
)
# On a hybrid model the block size of a state depends on it.
COMPARED_ON_HYBRIDS = ("enable_prefix_caching",)


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each compared argument that differs or stands on one side only."""
    prefill, decode = facts.prefill.spec.engine_args, facts.decode.spec.engine_args
    is_hybrid = facts.model is not None and facts.model.attention == "hybrid"
    for name in COMPARED + (COMPARED_ON_HYBRIDS if is_hybrid else ()):
        sides = [args.get(name, "vLLM's default") for args in (prefill, decode)]
        if (name in prefill or name in decode) and _comparable(name, sides[0]) != _comparable(name, sides[1]):
            yield Violation(
                f"decode.engine_args.{name}",
                f"prefill has {sides[0]!r}, decode has {sides[1]!r}",
                "give both phases the same",
            )


def _comparable(name: str, value: JsonValue) -> JsonValue:
    """Return a backend's name as vLLM reads it: in any case."""
    return value.upper() if name == "attention_backend" and isinstance(value, str) else value


RULE = Rule(
    code="PD302",
    severity=Severity.ERROR,
    title="Engine arguments that shape the model, its output or its KV cache are equal on both sides",
    rationale="The handshake refuses the pair (KV cache type, attention backend, layers, block sizes), or decode "
    "continues another model than prefill began.",
    source="vLLM 0.26.0 nixl/metadata.py, compute_nixl_compatibility_hash; nixl/base_worker.py, "
    "_validate_remote_agent_handshake",
    check=check,
)
