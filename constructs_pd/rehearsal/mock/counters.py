"""What the mock engine counts, under the names of vLLM's own metrics, so that one reader reads both."""

from __future__ import annotations

from typing import Any, Protocol


class Counters(Protocol):
    """Where an engine counts its work."""

    def prefilled(self, tokens: int, source: str) -> None:
        """Count tokens of a prompt, by where their KV cache came from."""

    def transferred(self, size_bytes: int) -> None:
        """Count a KV cache that came from another engine."""

    def generated(self, tokens: int) -> None:
        """Count tokens of an answer."""


class RayCounters:
    """Ray's metrics. Each node's agent exports those of its own processes."""

    def __init__(self, model: str) -> None:
        from ray import serve
        from ray.util.metrics import Counter, Histogram

        tags = {"model_name": model, "ReplicaId": serve.get_replica_context().replica_id.unique_id}

        def tagged(metric: Any) -> Any:
            metric.set_default_tags(tags)
            return metric

        keys = tuple(tags)
        self._prompt = tagged(Counter("vllm_prompt_tokens_by_source", "Tokens of prompts.", (*keys, "source")))
        self._generated = tagged(Counter("vllm_generation_tokens", "Tokens of answers.", keys))
        # The boundaries of vLLM 0.26.0 nixl/stats.py.
        boundaries = [2.0 ** (10 + step) for step in range(1, 25, 2)]
        self._bytes = tagged(
            Histogram("vllm_nixl_bytes_transferred", "Bytes of a KV cache.", boundaries=boundaries, tag_keys=keys)
        )

    def prefilled(self, tokens: int, source: str) -> None:
        """Count tokens of a prompt."""
        self._prompt.inc(tokens, tags={"source": source})

    def transferred(self, size_bytes: int) -> None:
        """Count a KV cache."""
        self._bytes.observe(size_bytes)

    def generated(self, tokens: int) -> None:
        """Count tokens of an answer."""
        if tokens:
            self._generated.inc(tokens)
