"""PD307: a hybrid model's cache settings go together."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for settings of a phase on which vLLM does not start a hybrid model."""
    if facts.model is None or facts.model.attention != "hybrid":
        return
    for phase in facts.phases:
        arguments = phase.spec.engine_args
        caches_prefixes = arguments.get("enable_prefix_caching") is True
        if arguments.get("mamba_block_size") is not None and not caches_prefixes:
            yield Violation(
                f"{phase.name}.engine_args.mamba_block_size",
                f"{arguments['mamba_block_size']!r} without enable_prefix_caching, which is off on hybrid models",
                "remove it, or state enable_prefix_caching: true in both phases",
            )
        if caches_prefixes and arguments.get("enable_chunked_prefill") is False:
            yield Violation(
                f"{phase.name}.engine_args.enable_chunked_prefill",
                "false, and enable_prefix_caching of a hybrid model needs true",
                "leave one of the two out",
            )


RULE = Rule(
    code="PD307",
    severity=Severity.ERROR,
    title="A hybrid model's cache settings go together",
    rationale="The engine refuses to start, after image and weights are there.",
    source="vLLM 0.26.0 config/vllm.py, validate_mamba_block_size; model_executor/models/config.py, MambaModelConfig; "
    "engine/arg_utils.py (the default of enable_prefix_caching)",
    check=check,
)
