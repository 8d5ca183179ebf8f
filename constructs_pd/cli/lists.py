"""What the planner knows, as lists: models, instance types, codes."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from constructs_pd.cli import output
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.codes import OTHER_CODES
from constructs_pd.planning.rules import RULES
from constructs_pd.planning.sizes import MIB_PER_GIB


def list_models(stated: Namespace) -> int:
    """Print every model of the catalogue."""
    rows = [
        (
            row.model,
            row.attention,
            str(row.attention_heads),
            str(row.kv_heads),
            f"{row.max_position_embeddings:,}",
            "yes" if row.gated else "no",
        )
        for row in load_catalog().models.values()
    ]
    return _list(stated, "Models", ("model", "attention", "heads", "KV heads", "context_tokens", "gated"), rows)


def list_instances(stated: Namespace) -> int:
    """Print every instance type of the catalogue."""
    rows = [
        (
            row.instance_type,
            f"{row.gpu.count} x {row.gpu.name}",
            f"{row.gpu.memory_mib / MIB_PER_GIB:.1f}",
            str(row.efa.interfaces),
            str(row.efa.bandwidth_gbps),
            {True: "yes", False: "no", None: "unknown"}[row.gpu.gpudirect_rdma],
        )
        for row in load_catalog().instances.values()
    ]
    columns = ("instance_type", "GPUs", "GiB_per_GPU", "EFA", "Gbit_per_second", "GPUDirect")
    return _list(stated, "Instance types", columns, rows)


def list_rules(stated: Namespace) -> int:
    """Print every code with what must hold."""
    rows = sorted(
        [(code.code, str(code.severity), code.title) for code in OTHER_CODES]
        + [(rule.code, str(rule.severity), rule.title) for rule in RULES]
    )
    return _list(stated, "Codes", ("code", "severity", "what must hold"), rows)


def _list(stated: Namespace, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    if stated.json:
        output.as_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        output.table(title, columns, rows)
    return 0
