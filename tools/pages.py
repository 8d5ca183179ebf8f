"""Write the pages of docs/ that are made from data: rules, roll-out, specification.

Usage: python tools/pages.py
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.codes import OTHER_CODES
from constructs_pd.planning.rules import RULES
from constructs_pd.planning.spec import DeploymentSpec

DOCS = Path(__file__).resolve().parent.parent / "docs"
NOTE = "<!-- Written by `make rules`; change the data instead. -->\n"


def rules_page() -> str:
    """Return the catalogue of every code: rules and other errors."""
    head = (
        "# Rules\n\n"
        "What is checked before anything is written. An error stops the synth; a warning is printed until it is\n"
        "acknowledged with a reason. A code never changes its meaning.\n\n"
    )
    rows = [
        *((code.code, "error", code.title, code.rationale, code.source) for code in OTHER_CODES),
        *((rule.code, str(rule.severity), rule.title, rule.rationale, rule.source) for rule in RULES),
    ]
    columns = ("code", "severity", "what must hold", "what happens otherwise", "source")
    return NOTE + head + _table(columns, sorted(rows))


def rollout_page() -> str:
    """Return what each kind of change does to a running service."""
    head = (
        "# How a change is rolled out\n\n"
        "Change the specification, run `make synth`, apply `dist/` again. What then happens depends on what changed\n"
        "and on `upgrade.strategy`. A plan carries the same as data: `plan.rollout`.\n\n"
        "| effect | meaning |\n|---|---|\n"
        "| in_place | it reaches the running pods |\n"
        "| second_cluster | KubeRay starts a second RayCluster, moves the traffic, then deletes the first |\n"
        "| ignored | it stays in the RayService and reaches nothing |\n"
        "| new_service | it is another object; the old one stays |\n\n"
    )
    rows = [
        (row.change, ", ".join(f"`{field}`" for field in row.fields), row.none, row.new_cluster, row.note, row.source)
        for row in load_catalog().rollout.values()
    ]
    columns = ("what changes", "for example", "`none`", "`new_cluster`", "what follows", "source")
    return NOTE + head + _table(columns, rows)


def specification_page() -> str:
    """Return every field of a specification with its default."""
    head = "# Specification\n\nEvery field of a specification file. A field without a default is required.\n\n"
    return NOTE + head + _table(("field", "default", "expected"), _fields(DeploymentSpec, ""))


def _fields(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        path = f"{prefix}{name}"
        if field.description:
            yield f"`{path}`", _default(field), field.description
        inner, many = _model_in(field.annotation)
        if inner is not None:
            yield from _fields(inner, f"{path}[]." if many else f"{path}.")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    default: Any = field.default
    return "" if default in (None, (), {}) else f"`{json.dumps(default)}`"


def _model_in(annotation: Any) -> tuple[type[BaseModel] | None, bool]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, False
    models = [_model_in(argument)[0] for argument in get_args(annotation)]
    return next((model for model in models if model is not None), None), "tuple[" in str(annotation)


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |\n" for line in lines)


PAGES = {"rules.md": rules_page, "rollout.md": rollout_page, "specification.md": specification_page}


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
