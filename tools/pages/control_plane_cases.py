"""The page of what was predicted, beside what a real control plane did."""

from __future__ import annotations

from typing import Any

import yaml

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.catalog.rows import RolloutRow
from tools.pages.table import DOCS, NOTE, table

DATA = DOCS.parent / "tests" / "data" / "control_plane"
STRATEGIES = ("none", "new_cluster")
BY = {"operator": "operator", "api_server": "API server", "nobody": "nobody"}
# What CloudFormation does, and Kubernetes has nothing to do with.
NOT_OF_KUBERNETES = ("nodes", "cluster")

_HEAD = """# Predicted and observed

What the rules and the plan predict, beside what the API server, the scheduler and the KubeRay operators 1.6.2 and 1.7.0
did ([control_plane.md](control_plane.md) says how, and what is not real). `make test-cluster` asks them anew and fails
where a line here is no longer so; without a cluster the tests compare the predictions with the rules and the plan. A
line that names a release is asked with that release's operator (`KUBERAY_SOURCE`), and so is then every other.

"""
_REFUSALS = """## Refusals

{mistakes} mistakes, each written past the rule that refuses it. {agreed} are refused by Kubernetes or KubeRay 1.7.0
too; of the others stands why the rule says no.

"""
_CHECKS = """
KubeRay 1.7.0 makes {checks} checks of a RayService (`ray-operator/controllers/ray/utils/validation.go`), 1.6.2 {before}
of them. {ruled} are mirrored by a rule or by a field's type, and tried above. The others cannot fail: of {absent} no
plan renders what they look at, and of {held} every rendered RayService has what they ask for.
`tests/data/control_plane/kuberay_checks.yaml` names each with its line.

"""
_UPGRADES = """## Upgrades

A change of a service that is ready, one field of each kind of [rollout.md](rollout.md): {effects} effects, {agreed} as
predicted. Which nodes CloudFormation replaces is not seen here.

"""
_SECOND = """
An upgrade by a second cluster:

"""
_LOSSES = """
## Losses

What is missing from the start, or removed from a deployment that runs: {losses} losses. Predicted is how many pods have
no node, as the tests reckon it from specification and rules; of {agreed} as many wait. The others say why not, and so
does what a rule refuses although nothing waits.

"""


def control_plane_cases_page() -> str:
    """Return the predictions and what was observed of each."""
    return NOTE + _HEAD + _refusals() + _upgrades() + _losses()


def _read(name: str) -> Any:
    return yaml.safe_load((DATA / name).read_text(encoding="utf-8"))


def _refusals() -> str:
    rows = _read("refusals.yaml")
    mistakes = {str([row.get(part) for part in ("context", "changes", "patch")]) for row in rows}
    agreed = sum(row["by"] != "nobody" for row in rows)
    checks = [check for found in _read("kuberay_checks.yaml").values() for check in found]
    lines = [
        (
            row["rules"][0],
            row["mistake"],
            f"{BY[row['by']]} {row.get('version', '')}".rstrip(),
            _code(row["words"]) if "words" in row else f"differs: {row['why']}",
            f"line {row['line']}" if "line" in row else "",
        )
        for row in rows
    ]
    counts = {
        "checks": len(checks),
        "before": sum(check["line_before"] is not None for check in checks),
        "ruled": sum("rule" in check for check in checks),
        "absent": sum("needs" in check for check in checks),
        "held": sum("holds" in check for check in checks),
    }
    columns = ("rule", "mistake", "refused by", "in its words", "validation.go of 1.7.0")
    return _REFUSALS.format(mistakes=len(mistakes), agreed=agreed) + table(columns, lines) + _CHECKS.format(**counts)


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _upgrades() -> str:
    data = _read("upgrades.yaml")
    reasons = {(each["part"], each["predicted"], each["observed"]): each["why"] for each in data["reasons"]}
    lines: list[tuple[str, ...]] = []
    effects = agreed = 0
    for field, of_strategies in data["observed"].items():
        for strategy in STRATEGIES:
            predicted, observed = _predicted(field, strategy), of_strategies[strategy]
            unequal = [
                (part, predicted[part], observed[part]) for part in predicted if predicted[part] != observed[part]
            ]
            effects += len(predicted)
            agreed += len(predicted) - len(unequal)
            why = " ".join(reasons[each] for each in unequal)
            lines.append((f"`{field}`", f"`{strategy}`", _effects(predicted), _effects(observed), why))
    columns = ("what changes", "strategy", "predicted", "observed", "why they differ")
    second = [(each["nodes"], each["predicted"], each["observed"]) for each in data["second_cluster"]]
    return (
        _UPGRADES.format(effects=effects, agreed=agreed)
        + table(columns, lines)
        + _SECOND
        + table(("nodes", "predicted", "observed"), second)
    )


def _predicted(field: str, strategy: str) -> dict[str, str]:
    row = next(row for row in load_catalog().rollout.values() if _is_about(row, field))
    return {part: effect for part, effect in getattr(row, strategy).items() if part not in NOT_OF_KUBERNETES}


def _effects(effects: dict[str, str]) -> str:
    return "<br>".join(f"{part}: {effects[part]}" for part in sorted(effects))


def _is_about(row: RolloutRow, field: str) -> bool:
    return any(f"{field}.".startswith(f"{named}.") for named in row.fields)


def _losses() -> str:
    rows = _read("losses.yaml")
    lines = [
        (
            row["loss"],
            ", ".join(f"`{path}: {_short(value)}`" for path, value in row["changes"].items()),
            f"{', '.join(row['rules'])} refuses it" if "rules" in row else row["foreseen"],
            _counts(row["predicted"]),
            " or ".join(_counts(row[waiting]) for waiting in ("pending", "instead") if waiting in row),
            _code(row["words"]) if "words" in row else "",
            _counts(row["may_go"]),
            row.get("why", ""),
        )
        for row in rows
    ]
    columns = (
        "lost",
        "deployment",
        "foreseen by",
        "predicted to wait",
        "wait",
        "the scheduler",
        "budgets let go",
        "why",
    )
    agreed = sum(row["predicted"] == row["pending"] for row in rows)
    return _LOSSES.format(losses=len(rows), agreed=agreed) + table(columns, lines)


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {inner}" for name, inner in value.items())
    return str(value)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{role} {count}" for role, count in counts.items()) or "none"
