"""The page of the ways of a KV cache."""

from __future__ import annotations

from constructs_pd.planning.catalog import load_catalog
from tools.pages.table import NOTE, table


def transfer_paths_page() -> str:
    """Return the ways of a KV cache with their numbers."""
    head = (
        "# Transfer paths\n\n"
        "What [the hand-over's arithmetic](hand_over.md) takes of each way for a KV cache. The least of the limits\n"
        "counts: the share of the line rate, the most of an engine, the most of a connection times decode's GPUs.\n\n"
    )
    rows = [
        (
            f"`{row.path}`",
            row.title,
            f"{row.efficiency:.0%}",
            f"{row.best_efficiency:.0%}",
            _gbps(row.engine_gbps),
            _gbps(row.flow_gbps),
            _gbps(row.group_flow_gbps),
            f"{row.fixed_ms:g} ms",
            f"{row.descriptor_us:g} us",
            row.source,
            str(row.date),
        )
        for row in load_catalog().transfer_paths.values()
    ]
    columns = (
        "path",
        "what it is",
        "of the line rate",
        "at most",
        "an engine",
        "a connection",
        "a connection in a placement group",
        "a transfer",
        "a descriptor",
        "source",
        "date",
    )
    return NOTE + head + table(columns, rows)


def _gbps(most: float | None) -> str:
    return "" if most is None else f"{most:g} Gbit/s"
