"""The page of the memory estimate beside start-up logs."""

from __future__ import annotations

from statistics import median

from benchmarks.memory import Comparison, compared, start_up_logs
from tools.pages.table import NOTE, table


def memory_accuracy_page() -> str:
    """Return the memory estimates beside published start-up logs."""
    head = (
        "# The memory estimate beside start-up logs\n\n"
        "What vLLM logged on real GPUs, per GPU, beside what the planner estimates from the GPU's memory, the model's\n"
        "`config.json` and the engine's arguments alone. Tokens are those that the logged size of the KV cache holds.\n"
        "The data is in `benchmarks/start_up_logs.yaml`, with the line by which to find a log that has no address.\n\n"
    )
    comparisons = [compared(log) for log in start_up_logs()]
    errors = [abs(found.kv_cache_error) for found in comparisons if found.kv_cache_error is not None]
    summary = (
        f"KV cache: {len(errors)} logs, median error {median(errors):.1%}, worst {max(errors):.1%}. "
        f"Tokens: {sum(found.tokens_error is not None for found in comparisons)} logs, worst error "
        f"{max(abs(found.tokens_error or 0) for found in comparisons):.1%}.\n\n"
    )
    columns = ("log", "vLLM", "GPUs", "weights GiB", "KV cache GiB", "error", "tokens", "error", "why", "source, date")
    return NOTE + head + summary + table(columns, map(_comparison, comparisons))


def _comparison(found: Comparison) -> tuple[str, ...]:
    log = found.log
    return (
        log.name,
        log.vllm_version,
        str(log.tensor_parallel),
        _beside(found.weights_gib, log.weights_gib, ".2f"),
        _beside(found.kv_cache_gib, log.kv_cache_gib, ".2f"),
        "" if found.kv_cache_error is None else f"{found.kv_cache_error:+.1%}",
        _beside(found.kv_cache_tokens, log.kv_cache_tokens, ","),
        "" if found.tokens_error is None else f"{found.tokens_error:+.2%}",
        log.reason or "",
        f"{log.source}, {log.date}",
    )


def _beside(estimated: float | None, logged: float | None, form: str) -> str:
    return "" if estimated is None or logged is None else f"{estimated:{form}} for {logged:{form}}"
