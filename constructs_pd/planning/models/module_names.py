"""Which modules a checkpoint's quantization names: exact names, shell patterns and regular expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from typing import Final

from constructs_pd.planning.models.errors import ModelConfigError

_MOST_PATTERNS: Final = 100_000
_LONGEST_PATTERN: Final = 500
# Every checkpoint writes its own prefix: model., model.language_model., backbone., language_model.model. ...
_LAYERS: Final = re.compile(r"(?:^|\.)(layers\.)")
_FUSED: Final = {
    "qkv_proj": ("q_proj", "k_proj", "v_proj"),
    "gate_up_proj": ("gate_proj", "up_proj"),
    "in_proj_ba": ("in_proj_b", "in_proj_a"),
}


def module_name(name: str) -> str:
    """Return a module's name from `layers.` on, all experts of a layer under one name."""
    found = _LAYERS.search(name)
    name = name[found.start(1) :] if found else name.removeprefix("model.")
    head, experts, _ = name.partition(".experts.")
    return head + ".experts" if experts else name


class ModuleNames:
    """A set of modules, as vLLM's `is_layer_skipped` and its kin for compressed-tensors and ModelOpt read it."""

    def __init__(self, names: Iterable[str], field: str) -> None:
        names = tuple(names)
        if len(names) > _MOST_PATTERNS or any(len(name) > _LONGEST_PATTERN for name in names):
            raise ModelConfigError(field, f"{len(names):,} names", "write fewer and shorter ones")
        patterns = [name for name in names if "*" in name and not name.startswith("re:")]
        expressions = [name.removeprefix("re:") for name in names if name.startswith("re:")]
        plain = {module_name(name) for name in names if "*" not in name and not name.startswith("re:")}
        self._plain = plain | {part for name in plain for part in _parts_of_fused(name)}
        alternatives = [translate(module_name(name)) for name in patterns] + [f"(?:{text})" for text in expressions]
        try:
            self._pattern = re.compile("|".join(alternatives)) if alternatives else None
        except (re.error, RecursionError, OverflowError) as error:
            raise ModelConfigError(field, "not a regular expression", "correct the config.json") from error

    def __contains__(self, path: str) -> bool:
        """Return whether the set names a module, one that holds it, or its kind."""
        if self._plain:
            parts = path.split(".")
            if any(part in self._plain for part in parts):
                return True
            if any(".".join(parts[:length]) in self._plain for length in range(2, len(parts) + 1)):
                return True
        if self._pattern is None:
            return False
        # A pattern may want a prefix (`re:.*self_attn.*` does not) or something behind the module.
        return any(self._pattern.match(name) for name in (path, f"model.{path}", f"model.{path}.weight"))


def _parts_of_fused(name: str) -> tuple[str, ...]:
    head, dot, last = name.rpartition(".")
    return tuple(head + dot + part for part in _FUSED.get(last, ()))
