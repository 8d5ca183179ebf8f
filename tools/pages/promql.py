"""Queries as a page shows them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Query:
    """What is asked of Prometheus.

    Attributes:
        name: What asks.
        expressions: What it asks, in PromQL.
    """

    name: str
    expressions: tuple[str, ...]


def promql(queries: Iterable[Query]) -> str:
    """Return a block of queries, each below the name of what asks."""
    return (
        "```promql\n"
        + "\n".join(f"# {query.name}\n" + "\n".join(query.expressions) + "\n" for query in queries)
        + "```\n"
    )
