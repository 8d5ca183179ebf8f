"""What the mock engine counts, under the names of vLLM's own metrics, so that one reader reads both.

Its times are its own: they say nothing of an engine's, and let rules and dashboards be tried.
"""

from __future__ import annotations

from typing import Any, Protocol

from constructs_pd.planning.histograms import ITL, NIXL_TRANSFER, TTFT


class Counters(Protocol):
    """Where an engine counts its work."""

    def prefilled(self, tokens: int, source: str) -> None:
        """Count tokens of a prompt, by where their KV cache came from."""

    def transferred(self, size_bytes: int, seconds: float) -> None:
        """Count a KV cache that came from another engine, and how long that took."""

    def generated(self, tokens: int) -> None:
        """Count tokens of an answer."""

    def answered(self, first_token_seconds: float, between_seconds: list[float]) -> None:
        """Count a request: its time to the first token, and those between the others."""

    def running(self, requests: int) -> None:
        """Say how many requests there are."""


class RayCounters:
    """Ray's metrics. Each node's agent exports those of its own processes."""

    def __init__(self, model: str) -> None:
        from ray import serve
        from ray.util.metrics import Counter, Gauge, Histogram

        tags = {"model_name": model, "ReplicaId": serve.get_replica_context().replica_id.unique_id}

        def tagged(metric: Any) -> Any:
            metric.set_default_tags(tags)
            return metric

        keys = tuple(tags)
        self._prompt = tagged(Counter("vllm_prompt_tokens_by_source", "Tokens of prompts.", (*keys, "source")))
        self._generated = tagged(Counter("vllm_generation_tokens", "Tokens of answers.", keys))
        self._prefix_queries = tagged(Counter("vllm_prefix_cache_queries", "Tokens that were looked for.", keys))

        def histogram(name: str, description: str, boundaries: list[float]) -> Any:
            return tagged(Histogram(f"vllm_{name}", description, boundaries=boundaries, tag_keys=keys))

        # The boundaries of vLLM 0.26.0 nixl/stats.py.
        size_boundaries = [2.0 ** (10 + step) for step in range(1, 25, 2)]
        self._bytes = histogram("nixl_bytes_transferred", "Bytes of a KV cache.", size_boundaries)
        self._transfer = histogram("nixl_xfer_time_seconds", "Time of a KV cache's transfer.", [*NIXL_TRANSFER])
        self._first = histogram("time_to_first_token_seconds", "Time to the first token.", [*TTFT])
        self._between = histogram("inter_token_latency_seconds", "Time between two tokens.", [*ITL])
        self._running = tagged(Gauge("vllm_num_requests_running", "Requests.", keys))
        self._usage = tagged(Gauge("vllm_kv_cache_usage_perc", "Share of the KV cache.", keys))
        self._waiting = tagged(Gauge("vllm_num_requests_waiting_by_reason", "Waiting requests.", (*keys, "reason")))

    def prefilled(self, tokens: int, source: str) -> None:
        """Count tokens of a prompt."""
        self._prompt.inc(tokens, tags={"source": source})
        self._prefix_queries.inc(tokens)

    def transferred(self, size_bytes: int, seconds: float) -> None:
        """Count a KV cache."""
        self._bytes.observe(size_bytes)
        self._transfer.observe(seconds)

    def generated(self, tokens: int) -> None:
        """Count tokens of an answer."""
        if tokens:
            self._generated.inc(tokens)

    def answered(self, first_token_seconds: float, between_seconds: list[float]) -> None:
        """Count a request."""
        self._first.observe(first_token_seconds)
        for seconds in between_seconds:
            self._between.observe(seconds)

    def running(self, requests: int) -> None:
        """Say how many requests there are; none waits, and each takes a hundredth of a KV cache that there is not."""
        self._running.set(requests)
        self._usage.set(min(1.0, requests / 100))
        for reason in ("capacity", "deferred"):
            self._waiting.set(0, tags={"reason": reason})
