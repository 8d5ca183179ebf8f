"""What each engine has done, as the metrics agent of its node exports it.

vLLM counts in Ray's metrics (the mock under the same names), and each node's agent exports those of its own
processes on a port of its own: that a counter stands there shows that the work was done there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from constructs_pd.rehearsal.exchange import NoAnswerError, exchange
from constructs_pd.rehearsal.local_ray import LocalRay

COMPUTED: Final = "local_compute"
HANDED_OVER: Final = "external_kv_transfer"
_PROMPT: Final = "ray_vllm_prompt_tokens_by_source_total"
_GENERATED: Final = "ray_vllm_generation_tokens_total"
_TRANSFERS: Final = "ray_vllm_nixl_bytes_transferred_count"
_BYTES: Final = "ray_vllm_nixl_bytes_transferred_sum"
_SAMPLE: Final = re.compile(r"^(\w+)\{(.*)\} (\S+)$")
_LABEL: Final = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass
class Work:
    """What one engine has done since it started.

    Attributes:
        node_id: Ray's id of the node whose agent says so.
        prompt_tokens: Tokens of prompts, by where their KV cache came from.
        generated_tokens: Tokens of answers.
        transfers: KV caches that it fetched over NIXL.
        transferred_bytes: Their size, in bytes. Ray exports a histogram's sum from the middles of its buckets, which
            are wide: it is an estimate.
    """

    node_id: str
    prompt_tokens: dict[str, int] = field(default_factory=dict)
    generated_tokens: int = 0
    transfers: int = 0
    transferred_bytes: int = 0

    @property
    def computed(self) -> int:
        """Tokens of prompts whose KV cache the engine computed itself."""
        return self.prompt_tokens.get(COMPUTED, 0)

    @property
    def handed_over(self) -> int:
        """Tokens of prompts whose KV cache came from another engine."""
        return self.prompt_tokens.get(HANDED_OVER, 0)


def work_done(ray: LocalRay) -> dict[str, Work]:
    """Return the work of every engine, by the id of its replica."""
    found: dict[str, Work] = {}
    for node_id, node in ray.nodes.items():
        for name, labels, value in samples(_metrics(node.metrics_port)):
            if name in (_PROMPT, _GENERATED, _TRANSFERS, _BYTES):
                _count(found.setdefault(labels["ReplicaId"], Work(node_id)), name, labels, int(value))
    return found


def samples(text: str) -> Iterator[tuple[str, dict[str, str], float]]:
    """Yield name, labels and value of every sample of Prometheus' text format that has labels."""
    for line in text.splitlines():
        if match := _SAMPLE.match(line):
            yield match[1], dict(_LABEL.findall(match[2])), float(match[3])


def _count(work: Work, name: str, labels: dict[str, str], value: int) -> None:
    if name == _PROMPT:
        work.prompt_tokens[labels["source"]] = value
    elif name == _GENERATED:
        work.generated_tokens = value
    elif name == _TRANSFERS:
        work.transfers = value
    else:
        work.transferred_bytes = value


def _metrics(port: int) -> str:
    try:
        status, text = exchange(port, "GET", "/metrics")
    except NoAnswerError:
        return ""
    return text if status == 200 else ""
