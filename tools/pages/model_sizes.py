"""The page of the catalogue's models."""

from __future__ import annotations

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.catalog.rows import ModelRow
from constructs_pd.planning.footprint import footprint
from constructs_pd.planning.gpu_memory import GIB
from constructs_pd.planning.models.families import ARCHITECTURES, REFUSED
from tools.pages.table import NOTE, table

MIB = 1024**2


def model_sizes_page() -> str:
    """Return the sizes of every model of the catalogue."""
    head = (
        "# Sizes of the catalogue's models\n\n"
        "On one GPU, with weights and KV cache as the checkpoint has them. [models.md](models.md) says how the\n"
        "numbers come about, and how to state a model that is not here. `constructs-pd models --json` has the same as\n"
        "data.\n\n"
        "KV cache is what a token takes in the layers that keep every token. Layers with a window keep the last\n"
        "tokens alone, and a hybrid model's other layers one state for a request.\n\n"
    )
    columns = (
        "model",
        "parameters",
        "weights",
        "weights as",
        "KV cache",
        "windows",
        "state",
        "context",
        "source",
        "date",
    )
    models = [_model_sizes(row) for row in load_catalog().models.values()]
    read = [(f"`{name}`", "yes" if family.see else "") for name, family in sorted(ARCHITECTURES.items())]
    refused = [(f"`{name}`", reason) for name, reason in sorted(REFUSED.items())]
    return (
        NOTE
        + head
        + table(columns, models)
        + "\n## Architectures whose config.json is read\n\n"
        + table(("architecture", "with a vision tower"), read)
        + "\n## Architectures that are refused with a reason\n\n"
        + table(("architecture", "why"), refused)
    )


def _model_sizes(row: ModelRow) -> tuple[str, ...]:
    facts, size = row.facts, footprint(row)
    assert facts is not None
    assert size is not None
    windows = (
        f"{window.bytes_per_token:,} bytes/token of the last {window.window_tokens:,}" for window in size.windows
    )
    return (
        row.model,
        f"{facts.parameters / 1e9:,.2f} billion",
        f"{size.weight_bytes / GIB:,.2f} GiB",
        facts.quantization or facts.dtype,
        f"{size.kv_bytes_per_token:,} bytes/token",
        "<br>".join(windows),
        f"{size.state_bytes_per_request / MIB:,.1f} MiB" if size.state_bytes_per_request else "",
        f"{row.max_position_embeddings:,} tokens",
        row.source,
        str(row.date),
    )
