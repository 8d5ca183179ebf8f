"""PD302: engine arguments that the hand-over compares are equal on both sides."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

# What changes the model, the KV cache or its layout. The rest may differ: it is capacity or logging.
COMPARED = (
    "attention_backend",
    "attention_config",
    "block_size",
    "calculate_kv_scales",
    "hf_config_path",
    "hf_overrides",
    "load_format",
    "mamba_block_size",
    "mamba_cache_dtype",
    "mamba_ssm_cache_dtype",
    "model_impl",
    "quantization",
    "disable_sliding_window",
    "tokenizer",
    "tokenizer_mode",
    "tokenizer_revision",
    "trust_remote_code",
)


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each compared argument that differs or stands on one side only."""
    prefill, decode = facts.prefill.spec.engine_args, facts.decode.spec.engine_args
    for name in COMPARED:
        sides = [args.get(name, "vLLM's default") for args in (prefill, decode)]
        if (name in prefill or name in decode) and sides[0] != sides[1]:
            yield Violation(
                f"decode.engine_args.{name}",
                f"prefill has {sides[0]!r}, decode has {sides[1]!r}",
                "give both phases the same",
            )


RULE = Rule(
    code="PD302",
    severity=Severity.ERROR,
    title="Engine arguments that the hand-over compares are equal on both sides",
    rationale="The handshake compares a hash of these and refuses every request, or decode reads another layout.",
    source="vLLM 0.26.0 nixl/metadata.py, compute_nixl_compatibility_hash",
    check=check,
)
