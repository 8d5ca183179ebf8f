"""Curves over the rate of requests: in the terminal, and as a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from math import floor, isfinite, log10
from typing import Final

MILLISECONDS: Final = 1e3
# What is missing, in the words that bring it.
INSTALL: Final = "charts need {}: pip install 'constructs-pd[cli,charts]'"
FILE_TYPES: Final = (".svg", ".png")
TERMINAL_ROWS: Final = 12
_INCHES: Final = (9.0, 7.0)
_DOTS_PER_INCH: Final = 120
_ROOM_ABOVE: Final = 1.1
# Characters between two labels of plotille's horizontal axis.
_TICK_COLUMNS: Final = 10
_FIRST_ORDER: Final = 3.0
_STEPS: Final = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
_ROUNDING: Final = 1e-9
_SIX_DIGITS: Final = 1e6
_BRAILLE: Final = range(0x2800, 0x2900)
_WITHOUT_BRAILLE: Final = {code: "." if code > _BRAILLE.start else " " for code in _BRAILLE}


class MissingChartsError(ImportError):
    """A chart was asked for, and the library that draws it is not installed."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart.

    Attributes:
        name: What it is, in the legend.
        points: Rates and seconds; those without end are left out.
        color: Its colour, by a name that terminals and matplotlib know.
        marker: The letter that stands at its points in a terminal.
    """

    name: str
    points: Sequence[tuple[float, float]]
    color: str
    marker: str

    @property
    def drawn(self) -> list[tuple[float, float]]:
        """The points that can be drawn, in milliseconds."""
        return [(rate, seconds * MILLISECONDS) for rate, seconds in self.points if isfinite(seconds)]


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over the rate of requests, in milliseconds.

    Attributes:
        title: What they show.
        lines: The lines.
        promised: What is promised of it, in seconds, or none.
        stated_rate: The rate that is to be served.
    """

    title: str
    lines: Sequence[Line]
    promised: float | None
    stated_rate: float

    @property
    def top(self) -> float:
        """The end of its scale: at most thrice the promise, since a long queue would flatten everything else."""
        highest = max((value for line in self.lines for _, value in line.drawn), default=1.0)
        most = self.promised * MILLISECONDS * 3 if self.promised is not None else None
        return _ROOM_ABOVE * (min(highest, most) if most is not None else highest)

    @property
    def promise(self) -> str:
        """What is promised of it, in words."""
        return f"promised: {(self.promised or 0) * MILLISECONDS:,.6g} ms"

    @property
    def last_rate(self) -> float:
        """The end of its other scale."""
        return max((rate for line in self.lines for rate, _ in line.points), default=1.0)


def terminal_chart(chart: Chart, columns: int, *, colored: bool, has_braille: bool = True) -> str:
    """Return a chart as text.

    Args:
        chart: The chart.
        columns: How wide it may be.
        colored: Whether its lines are in colour.
        has_braille: Whether lines may be drawn in the dots of Unicode's braille; else in full stops.

    Raises:
        MissingChartsError: plotille is not installed.
    """
    require("plotille")
    import plotille

    figure = plotille.Figure()
    figure.width, figure.height = max(20, columns - 30), TERMINAL_ROWS
    figure.with_colors = colored
    figure.color_mode = "names"
    figure.x_label, figure.y_label = "requests/s", "ms"
    columns_of_labels = max(1, figure.width // _TICK_COLUMNS)
    last_rate, top = _even(chart.last_rate, columns_of_labels), _even(chart.top, TERMINAL_ROWS)
    figure.set_x_limits(min_=0, max_=last_rate * figure.width / (columns_of_labels * _TICK_COLUMNS))
    figure.set_y_limits(min_=0, max_=top)
    figure.register_label_formatter(float, _label)
    for line in chart.lines:
        points = [(rate, value) for rate, value in line.drawn if value <= chart.top]
        if points:
            rates, values = zip(*points, strict=True)
            figure.plot(rates, values, lc=line.color if colored else None, label=line.name, marker=line.marker)
    if chart.promised is not None and chart.promised * MILLISECONDS <= chart.top:
        figure.plot([0, last_rate], [chart.promised * MILLISECONDS] * 2, lc=None, label=chart.promise)
    text = f"{chart.title}\n{figure.show(legend=True)}"
    return text if has_braille else text.translate(_WITHOUT_BRAILLE)


def _label(value: float, chars: int, delta: float, left: bool = False) -> str:
    """Return a number of an axis in a few characters."""
    text = f"{value:,.6g}" if value < _SIX_DIGITS else f"{value:.3g}"
    return text.ljust(chars) if left else text.rjust(chars)


def _even(last: float, steps: int) -> float:
    """Return the end of a scale so that each of its steps is a number of two digits or less."""
    step = last / steps
    unit = 10.0 ** floor(log10(step))
    return next(factor for factor in _STEPS if factor * unit >= step * (1 - _ROUNDING)) * unit * steps


def require(*libraries: str) -> None:
    """Say before any work that a library which draws is missing.

    Raises:
        MissingChartsError: One is not installed.
    """
    for library in libraries:
        try:
            import_module(library)
        except ModuleNotFoundError:
            raise MissingChartsError(INSTALL.format(library), name=library) from None


def drawn_charts(charts: Sequence[Chart], heading: str, kind: str) -> bytes:
    """Return charts below each other as a file; the same charts give the same bytes.

    Args:
        charts: The charts.
        heading: What stands above them.
        kind: svg or png.

    Raises:
        MissingChartsError: matplotlib is not installed.
    """
    require("matplotlib")
    import matplotlib
    from matplotlib.figure import Figure

    content = BytesIO()
    # Names that matplotlib would else draw anew, and its own date, would differ from one run to the next.
    with matplotlib.rc_context({"svg.hashsalt": "constructs-pd", "svg.fonttype": "none"}):
        figure = Figure(figsize=_INCHES, dpi=_DOTS_PER_INCH, layout="constrained")
        figure.suptitle(heading)
        for axes, chart in zip(figure.subplots(len(charts), 1, squeeze=False)[:, 0], charts, strict=True):
            for depth, line in enumerate(chart.lines):  # the first is on top, where two are the same
                rates, values = zip(*line.drawn, strict=True) if line.drawn else ((), ())
                axes.plot(rates, values, color=line.color, marker=".", label=line.name, zorder=_FIRST_ORDER - depth)
            if chart.promised is not None:
                axes.axhline(chart.promised * MILLISECONDS, color="black", linestyle="--", label=chart.promise)
            axes.axvline(
                chart.stated_rate, color="gray", linestyle=":", label=f"stated: {chart.stated_rate:,.6g} requests/s"
            )
            axes.set(title=chart.title, xlabel="requests per second", ylabel="milliseconds")
            axes.set_xlim(0, chart.last_rate)
            axes.set_ylim(0, chart.top)
            axes.grid(visible=True, alpha=0.3)
            axes.legend(loc="best")
        figure.savefig(content, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": None})
    return content.getvalue()
