"""What the planner knows, as lists: models, instance types, codes."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Final

from constructs_pd.cli import output
from constructs_pd.cli.output import Column, Group
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.catalog.rows import InstanceRow, ModelRow
from constructs_pd.planning.codes import OTHER_CODES, Code
from constructs_pd.planning.footprint import footprint
from constructs_pd.planning.gpu_memory import GIB
from constructs_pd.planning.rules import RULES
from constructs_pd.planning.rules.rule import Rule
from constructs_pd.planning.sizes import MIB_PER_GIB, pod_cpu_cores, pod_memory_gib

# Those behind a terminal's edge are left out from the right.
MODEL_COLUMNS: Final = (
    Column("model"),
    Column("billion params", is_number=True),
    Column("weights GiB", is_number=True),
    Column("KV bytes/token", is_number=True),
    Column("context tokens", is_number=True, is_optional=True),
    Column("attention", is_optional=True),
    Column("gated", is_optional=True),
    Column("type", is_optional=True, may_break=True),
)
INSTANCE_COLUMNS: Final = (
    Column("instance type"),
    Column("GPUs"),
    Column("GiB/GPU", is_number=True),
    Column("EFA", is_number=True),
    Column("Gbit/s", is_number=True, is_optional=True),
    Column("GPUDirect", is_optional=True),
    Column("pod cores", is_number=True, is_optional=True),
    Column("pod GiB", is_number=True, is_optional=True),
)
RULE_COLUMNS: Final = (Column("code"), Column("severity"), Column("what must hold", may_break=True))


def list_models(stated: Namespace) -> int:
    """Print the models of the catalogue: sizes as they are published, on 1 GPU."""
    rows = [model_data(row) for row in load_catalog().models.values()]
    return _list(stated, "model", rows, MODEL_COLUMNS, _model_cells)


def list_instances(stated: Namespace) -> int:
    """Print the instance types of the catalogue."""
    rows = [instance_data(row) for row in load_catalog().instances.values()]
    return _list(stated, "instance_type", rows, INSTANCE_COLUMNS, _instance_cells)


def list_rules(stated: Namespace) -> int:
    """Print every code with what must hold."""
    codes: list[Code | Rule] = [*OTHER_CODES, *RULES]
    rows = [rule_data(code) for code in sorted(codes, key=lambda code: code.code)]
    return _list(stated, "code", rows, RULE_COLUMNS, _rule_cells)


def model_data(row: ModelRow) -> dict[str, Any]:
    """Return what is known of a model; what is not known is none."""
    size, facts = footprint(row), row.facts
    return {
        "model": row.model,
        "architecture": row.architecture,
        "parameters": facts.parameters if facts else None,
        "weight_bytes": size.weight_bytes if size else None,
        "kv_bytes_per_token": size.kv_bytes_per_token if size else None,
        "windows": [asdict(window) for window in size.windows] if size else None,
        "state_bytes_per_request": size.state_bytes_per_request if size else None,
        "context_tokens": row.max_position_embeddings,
        "attention": row.attention,
        "attention_heads": row.attention_heads,
        "kv_heads": row.kv_heads,
        "dtype": facts.dtype if facts else None,
        "quantization": facts.quantization if facts else None,
        "gated": row.gated,
        "source": row.source,
        "date": row.date.isoformat(),
    }


def instance_data(row: InstanceRow) -> dict[str, Any]:
    """Return what is known of an instance type, and what its nodes leave to a pod."""
    return {
        **row.model_dump(mode="json"),
        "pod_cpu_cores": pod_cpu_cores(row),
        "pod_memory_gib": pod_memory_gib(row),
    }


def rule_data(code: Code | Rule) -> dict[str, Any]:
    """Return what a code means."""
    return {
        "code": code.code,
        "severity": str(code.severity),
        "title": code.title,
        "rationale": code.rationale,
        "arithmetic": code.arithmetic if isinstance(code, Rule) else None,
        "source": code.source,
    }


def _model_cells(data: dict[str, Any]) -> tuple[str, ...]:
    return (
        data["model"],
        _number(data["parameters"], 1e9, 1),
        _number(data["weight_bytes"], GIB, 1),
        _number(data["kv_bytes_per_token"]),
        _number(data["context_tokens"]),
        "windows" if data["windows"] else data["attention"],
        _yes(data["gated"]),
        data["quantization"] or data["dtype"] or "unknown",
    )


def _instance_cells(data: dict[str, Any]) -> tuple[str, ...]:
    gpu, efa = data["gpu"], data["efa"]
    return (
        data["instance_type"],
        f"{gpu['count']} x {gpu['name']}",
        _number(gpu["memory_mib"], MIB_PER_GIB, 1),
        _number(efa["interfaces"]),
        _number(efa["bandwidth_gbps"]),
        _yes(gpu["gpudirect_rdma"]),
        _number(data["pod_cpu_cores"]),
        _number(data["pod_memory_gib"]),
    )


def _rule_cells(data: dict[str, Any]) -> tuple[str, ...]:
    return data["code"], data["severity"], data["title"]


def _number(value: float | None, unit: float = 1, digits: int = 0) -> str:
    return "unknown" if value is None else f"{value / unit:,.{digits}f}"


def _yes(value: bool | None) -> str:
    return {True: "yes", False: "no", None: "unknown"}[value]


def _list(
    stated: Namespace,
    key: str,
    rows: Sequence[dict[str, Any]],
    columns: Sequence[Column],
    cells: Callable[[dict[str, Any]], tuple[str, ...]],
) -> int:
    chosen = [row for row in rows if stated.text.lower() in row[key].lower()]
    if stated.json:
        output.as_json(chosen)
    elif chosen:
        output.table(columns, [Group("", [cells(row) for row in chosen])])
    else:
        output.complaint(f"0 of {len(rows)} names hold {stated.text!r}")
    return 0
