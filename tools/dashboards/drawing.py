"""A picture of a dashboard: its panels where Grafana's grid has them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from tools.dashboards.asked import Line, is_made_up
from tools.monitoring.recorded import times

mpl.use("agg")

_COLUMNS: Final = 24
_WIDTH_INCHES: Final = 14.0
_LINE_INCHES: Final = 0.34
_DOTS_PER_INCH: Final = 72
#: The edge inside a panel's place, in inches: title above, times and legend below.
_LEFT, _RIGHT, _TOP, _BOTTOM = 0.65, 0.15, 0.34, 0.66
_COLORS: Final = {"green": "#3fa35b", "orange": "#e8871e", "red": "#d43a3a", "text": "#333333"}
_PREFIXES: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_UNITS: Final = {
    "reqps": " req/s",
    "cps": "/s",
    "Bps": "B/s",
    "watt": " W",
    "celsius": " °C",
    "percent": " %",
    "none": "",
}


def draw(dashboard: Mapping[str, Any], lines: Mapping[int, list[Line]], path: Path, digest: str) -> None:
    """Write a picture.

    Args:
        dashboard: What Grafana reads.
        lines: The series of each panel, by its id.
        path: Where the picture goes.
        digest: Of what it shows; it is kept in the picture.
    """
    panels = dashboard["panels"]
    rows = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in panels)
    height = rows * _LINE_INCHES + 0.5
    figure = Figure(figsize=(_WIDTH_INCHES, height), dpi=_DOTS_PER_INCH, facecolor="#f4f5f5")
    figure.text(0.01, 1 - 0.15 / height, dashboard["title"], fontsize=13, weight="bold", va="top")
    for panel in panels:
        grid = panel["gridPos"]
        top = 0.5 + grid["y"] * _LINE_INCHES
        left = grid["x"] * _WIDTH_INCHES / _COLUMNS
        width = grid["w"] * _WIDTH_INCHES / _COLUMNS
        _draw_panel(figure, panel, lines.get(panel["id"], []), (left, top, width, grid["h"] * _LINE_INCHES), height)
    figure.savefig(path, metadata={"Description": digest, "Software": None})


def _draw_panel(
    figure: Figure, panel: dict[str, Any], lines: list[Line], place: tuple[float, float, float, float], whole: float
) -> None:
    left, top, width, height = place
    if panel["type"] == "row":
        figure.text(left / _WIDTH_INCHES + 0.008, 1 - (top + height / 2) / whole, panel["title"], weight="bold")
        return
    box = (
        (left + 0.04) / _WIDTH_INCHES,
        1 - (top + height - 0.04) / whole,
        (width - 0.08) / _WIDTH_INCHES,
        (height - 0.08) / whole,
    )
    back = figure.add_axes(box, xticks=[], yticks=[], facecolor="white")
    for spine in back.spines.values():
        spine.set_color("#d8d9da")
    title = panel["title"] + (" (series made up)" if is_made_up(panel) else "")
    back.annotate(title, (0, 1), (6, -12), "axes fraction", textcoords="offset points", fontsize=9)
    if panel["type"] == "stat":
        _draw_number(back, panel, lines)
        return
    inner = (
        (left + _LEFT) / _WIDTH_INCHES,
        1 - (top + height - _BOTTOM) / whole,
        (width - _LEFT - _RIGHT) / _WIDTH_INCHES,
        (height - _TOP - _BOTTOM) / whole,
    )
    axes = figure.add_axes(inner)
    axes.tick_params(labelsize=7, colors="#555555")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if panel["type"] == "state-timeline":
        _draw_states(axes, lines)
    else:
        _draw_lines(axes, panel, lines)
    axes.set_axisbelow(True)
    start, end = times()
    axes.set_xlim(0, (end - start) / 60)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} min"))


def _draw_number(axes: Axes, panel: dict[str, Any], lines: list[Line]) -> None:
    defaults = panel["fieldConfig"]["defaults"]
    if not lines:
        axes.text(0.5, 0.42, defaults["noValue"], ha="center", va="center", fontsize=13, color="#777777")
        return
    value = lines[0].values[-1][1]
    reached = [step for step in defaults["thresholds"]["steps"] if step["value"] is None or value >= step["value"]]
    text = _text(value, defaults["unit"])
    axes.text(0.5, 0.42, text, ha="center", va="center", fontsize=22, color=_COLORS[reached[-1]["color"]])


def _draw_states(axes: Axes, lines: list[Line]) -> None:
    begin, _ = times()
    for place, line in enumerate(lines):
        minutes = [(stamp - begin) / 60 for stamp, _ in line.values]
        axes.broken_barh([(minute, 0.25) for minute in minutes], (place - 0.35, 0.7), color=_COLORS["red"])
        axes.text(0.1, place, line.name, va="center", fontsize=8)
    axes.set_yticks([])
    axes.set_ylim(-0.6, max(len(lines), 1) - 0.4)


def _draw_lines(axes: Axes, panel: dict[str, Any], lines: list[Line]) -> None:
    defaults = panel["fieldConfig"]["defaults"]
    begin, _ = times()
    stamps = sorted({stamp for line in lines for stamp, _ in line.values})
    minutes = [(stamp - begin) / 60 for stamp in stamps]
    found = [dict(line.values) for line in lines]
    columns = [[values.get(stamp, float("nan")) for stamp in stamps] for values in found]
    if "stacking" in defaults["custom"] and lines:
        filled = [[0.0 if value != value else value for value in column] for column in columns]
        axes.stackplot(minutes, filled, labels=[line.name for line in lines], alpha=0.6)
    else:
        for line, column in zip(lines, columns, strict=True):
            axes.plot(minutes, column, label=line.name, linewidth=1.4)
    if not lines:
        axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center", color="#777777")
    for step in defaults.get("thresholds", {}).get("steps", []):
        if step["value"] is not None:
            axes.axhline(step["value"], color=_COLORS[step["color"]], linestyle="--", linewidth=1.2)
    has_values = any(value > 0 for column in columns for value in column)
    soft = defaults["custom"].get("axisSoftMax", 0)
    axes.set_ylim(0, defaults.get("max") or max(axes.get_ylim()[1] if has_values else 0, soft) or 1)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _text(value, defaults["unit"])))
    axes.grid(visible=True, color="#eeeeee")
    if lines:
        axes.legend(
            loc="upper left", bbox_to_anchor=(-0.03, -0.11), ncols=4, fontsize=7, frameon=False, handlelength=1.2
        )


def _text(value: float, unit: str) -> str:
    if unit == "percentunit":
        return f"{value * 100:.3g} %"
    if unit == "s":
        return f"{value * 1000:.3g} ms" if 0 < abs(value) < 1 else f"{value:.3g} s"
    for size, prefix in _PREFIXES:
        if abs(value) >= size:
            return f"{value / size:.3g} {prefix}{_UNITS[unit].strip()}"
    return f"{value:.3g}{_UNITS[unit]}"
