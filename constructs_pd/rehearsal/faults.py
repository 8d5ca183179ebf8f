"""Faults to plant in a rehearsal, to see that it catches them: each changes the Serve configuration and no check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Final

from constructs_pd.rehearsal.cpu import llm_config

Fault = Callable[[Mapping[str, Any]], dict[str, Any]]


def misspelled_resource(document: Mapping[str, Any]) -> dict[str, Any]:
    """Ask for a custom resource that no node offers: its last letter is missing."""
    changed = deepcopy(dict(document))
    bundle = llm_config(changed, "prefill")["placement_group_config"]["bundle_per_worker"]
    name = next(key for key in bundle if key not in {"CPU", "GPU"})
    bundle[name[:-1]] = bundle.pop(name)
    return changed


def swapped_roles(document: Mapping[str, Any]) -> dict[str, Any]:
    """Give each engine the other side of the hand-over."""
    changed = deepcopy(dict(document))
    prefill, decode = (
        llm_config(changed, phase)["engine_kwargs"]["kv_transfer_config"] for phase in ("prefill", "decode")
    )
    prefill["kv_role"], decode["kv_role"] = decode["kv_role"], prefill["kv_role"]
    return changed


def other_weights(document: Mapping[str, Any]) -> dict[str, Any]:
    """Give decode random weights under the same name, so that answers are wrong and nothing else is."""
    changed = deepcopy(dict(document))
    llm_config(changed, "decode")["engine_kwargs"]["load_format"] = "dummy"
    return changed


FAULTS: Final[dict[str, Fault]] = {
    "phase-resource": misspelled_resource,
    "kv-role": swapped_roles,
    "corrupt-answer": other_weights,
}
