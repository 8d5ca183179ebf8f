"""Panels in the style that all dashboards share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any, Final

from grafana_foundation_sdk.builders import common, prometheus, stat, statetimeline, timeseries
from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.models import common as options
from grafana_foundation_sdk.models import dashboard as models

from constructs_pd.manifests.dashboards.board import DATASOURCE

#: Columns of Grafana's grid, and how many lines of it a panel has.
WIDTH: Final = 24
HALF: Final = WIDTH // 2
_HEIGHT: Final = 8
_STAT_HEIGHT: Final = 4
_STATES_HEIGHT: Final = 5
GREEN: Final = "green"
ORANGE: Final = "orange"
RED: Final = "red"
_NOTHING: Final = "no data"
_FILL: Final = 10
_STACK_FILL: Final = 60
_STATES_FILL: Final = 70
_MARK_MARGIN: Final = 1.1


@dataclass(frozen=True, slots=True)
class Query:
    """What a panel asks Prometheus.

    Attributes:
        expression: PromQL.
        legend: What its series are called, with labels in `{{ }}`.
    """

    expression: str
    legend: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A value from which on another colour holds: a promise, or what the plan reckons with.

    Attributes:
        value: That value, in the panel's unit.
        color: The colour from there on.
    """

    value: float
    color: str


def lines(
    title: str,
    answer: str,
    queries: Sequence[Query],
    *,
    unit: str,
    width: int = HALF,
    marks: Iterable[Mark] = (),
    is_stacked: bool = False,
    most: float | None = None,
) -> timeseries.Panel:
    """Return a panel with time on its axis; marks are lines across it.

    Args:
        title: What stands above it.
        answer: The question that it answers, shown beside the title.
        queries: What it asks.
        unit: Grafana's name of the unit.
        width: Columns of the grid.
        marks: Thresholds, ascending.
        is_stacked: Whether series are areas upon each other, because their sum says something.
        most: The end of the axis where there is one.
    """
    panel = timeseries.Panel().height(_HEIGHT).min(0).fill_opacity(_STACK_FILL if is_stacked else _FILL)
    panel.show_points(options.VisibilityMode.NEVER).legend(_legend()).tooltip(_tooltip())
    if is_stacked:
        panel.stacking(common.StackingConfig().mode(options.StackingMode.NORMAL).group("A"))
    if most is not None:
        panel.max(most)
    stated = list(marks)
    if stated:
        # Grafana's axis follows the series alone, and would leave marks out that are far above them.
        panel.axis_soft_max(stated[-1].value * _MARK_MARGIN)
        panel.thresholds(_steps("transparent", stated))
        panel.thresholds_style(common.GraphThresholdsStyleConfig().mode(options.GraphTresholdsStyleMode.DASHED))
    found: timeseries.Panel = _asked(panel, title, answer, queries, width).unit(unit)
    return found


def figure(
    title: str,
    answer: str,
    query: Query,
    *,
    unit: str,
    width: int,
    marks: Iterable[Mark] = (),
    base: str = GREEN,
) -> stat.Panel:
    """Return a panel with one number, the latest, in the colour of the last mark that it reaches.

    Args:
        title: What stands above it.
        answer: The question that it answers.
        query: What it asks.
        unit: Grafana's name of the unit.
        width: Columns of the grid.
        marks: Thresholds, ascending.
        base: The colour below all marks.
    """
    panel = stat.Panel().height(_STAT_HEIGHT).no_value(_NOTHING).graph_mode(options.BigValueGraphMode.NONE)
    panel.reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
    panel.color_mode(options.BigValueColorMode.VALUE).text_mode(options.BigValueTextMode.VALUE)
    stated = list(marks)
    panel.thresholds(_steps(base if stated else "text", stated))
    found: stat.Panel = _asked(panel, title, answer, [query], width).unit(unit)
    return found


def states(title: str, answer: str, query: Query, *, width: int = WIDTH) -> statetimeline.Panel:
    """Return a panel with a bar for each series, while it is there."""
    panel = statetimeline.Panel().height(_STATES_HEIGHT).legend(_legend()).tooltip(_tooltip())
    panel.show_value(options.VisibilityMode.NEVER).thresholds(_steps(GREEN, [Mark(1, RED)]))
    panel.color_scheme(builders.FieldColor().mode(models.FieldColorModeId.THRESHOLDS))
    panel.fill_opacity(_STATES_FILL).line_width(0)
    found: statetimeline.Panel = _asked(panel, title, answer, [query], width)
    return found


def _asked(panel: Any, title: str, answer: str, queries: Sequence[Query], width: int) -> Any:
    panel.title(title).description(answer).span(width).datasource(DATASOURCE)
    for letter, query in zip(ascii_uppercase, queries, strict=False):
        target = prometheus.Dataquery().expr(query.expression).legend_format(query.legend).ref_id(letter).range()
        panel.with_target(target)
    return panel


def _steps(base: str, marks: Iterable[Mark]) -> builders.ThresholdsConfig:
    above = [models.Threshold(value=mark.value, color=mark.color) for mark in marks]
    return (
        builders.ThresholdsConfig()
        .mode(models.ThresholdsMode.ABSOLUTE)
        .steps([models.Threshold(value=None, color=base), *above])
    )


def _legend() -> common.VizLegendOptions:
    legend = common.VizLegendOptions().show_legend(True).display_mode(options.LegendDisplayMode.LIST)
    return legend.placement(options.LegendPlacement.BOTTOM).calcs([])


def _tooltip() -> common.VizTooltipOptions:
    return common.VizTooltipOptions().mode(options.TooltipDisplayMode.MULTI).sort(options.SortOrder.DESCENDING)
