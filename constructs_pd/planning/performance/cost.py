"""What serving costs, and the quotas that it takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from constructs_pd.planning.catalog.loader import Catalog
from constructs_pd.planning.catalog.rows import InstanceRow, QuotaRow

_SECONDS_PER_HOUR: Final = 3600
_MILLION: Final = 1e6


@dataclass(frozen=True, slots=True)
class Cost:
    """What nodes cost, in the currency of the stated prices.

    Attributes:
        per_hour: All nodes, for an hour.
        per_million_outputs: A million tokens of answers, at the stated rate.
        per_million_tokens: A million tokens of prompts and answers together.
    """

    per_hour: float
    per_million_outputs: float
    per_million_tokens: float


def cost(per_hour: float, rate: float, prompt_tokens: float, output_tokens: float) -> Cost:
    """Return what nodes cost for each million tokens, while they serve a rate of requests in a second."""
    outputs = rate * output_tokens * _SECONDS_PER_HOUR / _MILLION
    tokens = rate * (prompt_tokens + output_tokens) * _SECONDS_PER_HOUR / _MILLION
    return Cost(per_hour, per_hour / outputs, per_hour / tokens)


@dataclass(frozen=True, slots=True)
class QuotaNeed:
    """What nodes take of one of EC2's quotas.

    Attributes:
        quota: The quota.
        vcpus: The vCPUs of the nodes.
    """

    quota: QuotaRow
    vcpus: int


def quota_needs(catalog: Catalog, nodes: Iterable[tuple[InstanceRow, int]]) -> tuple[QuotaNeed, ...]:
    """Return the vCPUs of each quota that nodes count against; nodes of families that have none are left out."""
    needs: dict[str, int] = {}
    for instance, number in nodes:
        family = instance.instance_type[0]
        if family in catalog.quotas:
            needs[family] = needs.get(family, 0) + number * instance.vcpus
    return tuple(QuotaNeed(catalog.quotas[family], vcpus) for family, vcpus in sorted(needs.items()))
