"""The page of known defects."""

from __future__ import annotations

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.catalog.rows import DefectCondition
from constructs_pd.planning.defects import why_never_met
from tools.pages.table import NOTE, table

CONDITIONS: dict[DefectCondition, str] = {
    "always": "every deployment",
    "caches_of_unequal_layers": "a hybrid model, one with sliding windows or an indexer, or a draft model of its own",
    "flashinfer_with_windows_on_hopper": "a model with sliding windows and FLASHINFER on H100 or H200",
    "hybrid_model": "a hybrid model",
    "hybrid_model_with_prefix_caching": "a hybrid model with `enable_prefix_caching: true`",
    "hybrid_model_with_prefix_caching_and_speculation": (
        "a hybrid model with `enable_prefix_caching: true` and speculative decoding"
    ),
    "new_cluster_upgrade": "`upgrade.strategy: new_cluster`",
    "other_hand_over": "another hand-over",
    "prefill_wider_than_decode": "a larger `tensor_parallel` in prefill than in decode, without latent attention",
    "several_kinds_of_cache": "a hybrid model, or one with sliding windows",
    "unequal_sizes_with_windows": "a model with sliding windows and unequal `tensor_parallel`",
}


def known_defects_page() -> str:
    """Return every known defect with the versions that have it."""
    head = (
        "# Known defects\n\n"
        "What others met in the versions that a deployment runs. PD412 reports a defect where the planned version\n"
        "has it and the deployment meets its condition; of a model that is stated without its config.json, sliding\n"
        "windows are not known and count as none. A version is affected from the first that is named up to, and\n"
        "without, the one in which it is fixed. Where no deployment that is permitted can meet a defect, its row is\n"
        "history, and PD412 never reports it: it says why something is planned as it is, or why older versions are\n"
        "refused. Accept one that is no error by its id, with a reason:\n\n"
        "```text\n"
        "acknowledge:\n"
        "  - code: PD412/vllm-52234\n"
        "    reason: failed hand-overs are watched\n"
        "```\n\n"
    )
    catalog = load_catalog()
    rows = [
        (
            f"`{row.id}`",
            str(row.severity),
            f"{row.component} from {row.first_affected}",
            row.first_fixed or "not known",
            CONDITIONS[row.condition],
            _reported(why_never_met(row, catalog)),
            f"{row.title}: {row.effect}",
            row.workaround,
            row.source,
            str(row.date),
        )
        for row in catalog.known_defects.values()
    ]
    columns = (
        *("id", "severity", "affected", "fixed in", "met by", "reported today"),
        *("what happens", "what to do", "source", "date"),
    )
    return NOTE + head + table(columns, rows)


def _reported(never: str | None) -> str:
    return "yes" if never is None else f"no, history: {never}"
