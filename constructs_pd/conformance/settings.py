"""What a run needs to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Settings:
    """One run's endpoint and limits.

    Attributes:
        base_url: Where the API begins, such as `http://host:8000/v1`.
        model: The model to ask for.
        api_key: Its key; None sends no authorization. It is never shown.
        timeout_seconds: The longest a single request may take.
        deadline_seconds: The longest the whole run may take.
        concurrent_streams: How many requests are under way at once, at most.
        versions: What serves the endpoint, by product: `{"ray": "2.58.0", "vllm": "0.26.0"}`. Deviations are known
            only of products that are named here.
        context_tokens: The longest context; None takes it from the model list where it is told.
        reference_url: The base URL of an endpoint with the right answers, for the corruption canary.
        reference_model: The model's name there; None for the same.
        answers: A file of stored answers, instead of a reference.
        metrics_url: The Prometheus page of the decode engines; every address of its host is read.
        tokenizer: The model's `tokenizer.json`, to count a prompt's tokens independently.
        asks_proxies: Whether requests to the endpoint take the proxies, and passwords of `.netrc`, that the environment
            names; otherwise they go straight to it.
    """

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    timeout_seconds: float = 120
    deadline_seconds: float = 900
    concurrent_streams: int = 4
    versions: Mapping[str, str] = field(default_factory=dict)
    context_tokens: int | None = None
    reference_url: str | None = None
    reference_model: str | None = None
    answers: Path | None = None
    metrics_url: str | None = None
    tokenizer: Path | None = None
    asks_proxies: bool = True
