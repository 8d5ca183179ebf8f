"""`constructs-pd size`: how many nodes of each phase a workload takes, and whether the phases should be apart."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, Final

import yaml

from constructs_pd.cli import output
from constructs_pd.cli.charts import (
    FILE_TYPES,
    Chart,
    Line,
    MissingChartsError,
    drawn_charts,
    require,
    terminal_chart,
)
from constructs_pd.cli.files import NotWrittenError, check_outputs, write_outputs
from constructs_pd.cli.output import Column, Group
from constructs_pd.cli.status import ERRORS, USAGE_ERROR
from constructs_pd.findings import PlanError
from constructs_pd.planning.performance.accuracy import Accuracy
from constructs_pd.planning.performance.sizing import Option, Sizing, Together
from constructs_pd.planning.performance.targets import targets_of
from constructs_pd.planning.performance.workload_file import size_file

MOST_OPTIONS: Final = 5
LEAST_SHOWN: Final = 0.01
CHART: Final = "--chart"
SPEC: Final = "--emit-spec"
SPEC_TYPES: Final = (".yaml", ".yml")
COLUMNS: Final = (
    Column("prefill", may_break=True),
    Column("decode", may_break=True),
    Column("GPUs", is_number=True),
    Column("TTFT p50", is_number=True),
    Column("TTFT p95", is_number=True),
    Column("ITL p95", is_number=True),
    Column("most req/s", is_number=True, is_optional=True),
    Column("full first", is_optional=True),
    Column("per hour", is_number=True, is_optional=True),
    Column("per M outputs", is_number=True, is_optional=True),
    Column("per M tokens", is_number=True, is_optional=True),
)
HEADER: Final = (
    "# Written by `constructs-pd size`. `constructs-pd plan` shows what is built of it, and what to look at.\n"
)


def add_options(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("workload", metavar="WORKLOAD.yaml", type=Path)
    parser.add_argument(
        SPEC, type=_file(SPEC_TYPES), metavar="FILE", help="write the specification that serves it best: .yaml"
    )
    parser.add_argument(
        CHART, type=_file(FILE_TYPES), metavar="FILE", help="write TTFT and ITL over the rate: .svg or .png"
    )
    parser.add_argument("--force", action="store_true", help="replace these files where they exist")
    parser.add_argument("--plot", action="store_true", help="draw them in the terminal too")


def size_command(stated: Namespace) -> int:
    """Size a workload and print the answer, or everything that stands in the way."""
    try:
        require(*(["matplotlib"] if stated.chart else []), *(["plotille"] if stated.plot and not stated.json else []))
        check_outputs(_outputs(stated), read=stated.workload, force=stated.force)
        found = size_file(stated.workload)
    except (MissingChartsError, NotWrittenError) as error:
        output.complaint(str(error))
        return USAGE_ERROR
    except PlanError as error:
        if stated.json:
            output.as_json({"sizing": None, "findings": [asdict(finding) for finding in error.findings]})
        else:
            output.complaint(str(error))
        return ERRORS
    if stated.json:
        output.as_json({"sizing": _as_data(found), "findings": []})
    else:
        _print(found)
        if stated.plot:
            for chart in _charts(found):
                output.line()
                width, braille = get_terminal_size().columns, output.can_print("⠿")
                text = terminal_chart(chart, width, colored=output.is_terminal(), has_braille=braille)
                output.drawing(text)
    try:
        contents = [(option, path, _content(option, path, found)) for option, path in _outputs(stated).items()]
        write_outputs(contents, force=stated.force)
    except NotWrittenError as error:
        output.complaint(str(error))
        return USAGE_ERROR
    if not stated.json:
        for path in _outputs(stated).values():
            output.line(f"wrote {path}")
    return 0


def _outputs(stated: Namespace) -> dict[str, Path]:
    """Return the files to write, by the option that names each."""
    named = {CHART: stated.chart, SPEC: stated.emit_spec}
    return {option: path for option, path in named.items() if path is not None}


def _content(option: str, path: Path, found: Sizing) -> bytes:
    """Return what is written for an option."""
    if option == SPEC:
        return (HEADER + yaml.safe_dump(found.specification, sort_keys=False, allow_unicode=True)).encode("utf-8")
    heading = f"{found.workload.model.source}: {_named(found.options[0])}"
    return drawn_charts(_charts(found), heading, path.suffix.lower().removeprefix("."))


def _file(suffixes: Sequence[str]) -> Callable[[str], Path]:
    """Return what reads the path of a file of one of these kinds."""

    def path(text: str) -> Path:
        named = Path(text)
        if named.suffix.lower() not in suffixes:
            raise ArgumentTypeError(f"{text!r} does not end in {' or '.join(suffixes)}")
        return named

    return path


def _print(found: Sizing) -> None:
    best, advice = found.options[0], found.advice
    traffic = found.workload.traffic
    output.line(
        f"{found.workload.model.source}: {traffic.requests_per_second:,.10g} requests a second, prompts of "
        f"{_count(traffic.prompt_tokens, 'token')} and answers of {traffic.output_tokens:,}"
    )
    output.table(COLUMNS, [Group("", [_cells(option) for option in found.options[:MOST_OPTIONS]])])
    if len(found.options) > MOST_OPTIONS:
        output.line(f"{len(found.options) - MOST_OPTIONS} more in --json", style="dim")
    unpriced = [name for name in found.workload.instance_types if name not in found.workload.prices_per_hour]
    if unpriced and found.workload.prices_per_hour:
        output.line(f"no price of {', '.join(unpriced)}: what takes one comes last", style="yellow")
    output.line()
    output.line(
        f"P:D ratio {best.prefill[1]}:{best.decode[1]}; {best.fills_first} is full first, at {best.full_rate:,.2f}"
    )
    for need in best.quotas:
        output.line(f"quota: {need.vcpus:,} vCPUs of {need.quota.name} ({need.quota.code})")
    for warning in best.warnings:
        output.line(f"{warning.code} {warning.message}", style="yellow")
    for accuracy in (best.ttft_accuracy, best.itl_accuracy):
        output.line(accuracy.sentence)
    if found.together is not None:
        output.line(f"together, which is not deployed here: {_together(found.together)}")
    output.line()
    output.line(f"disaggregate: {advice.verdict}", style="bold")
    for reason in advice.reasons:
        output.line(f"- {reason}", indent=2)
    for reason in found.rejected[:MOST_OPTIONS]:
        output.line(f"left out: {reason}", style="dim")
    if len(found.rejected) > MOST_OPTIONS:
        output.line(f"{len(found.rejected) - MOST_OPTIONS} more left out, in --json", style="dim")


def _cells(option: Option) -> tuple[str, ...]:
    cost = option.cost
    return (
        _nodes(option.prefill),
        _nodes(option.decode),
        str(option.gpus),
        _ms(option.latency.ttft_p50),
        _ms(option.latency.ttft_p95),
        _ms(option.latency.itl_p95),
        f"{option.most_rate:,.1f}",
        option.fills_first,
        _money(cost.per_hour) if cost else "unknown",
        _money(cost.per_million_outputs) if cost else "unknown",
        _money(cost.per_million_tokens) if cost else "unknown",
    )


def _together(found: Together) -> str:
    price = f", {_money(found.cost.per_hour)} an hour" if found.cost else ""
    return (
        f"{found.nodes} x {found.instance_type} with engines of {found.tensor_parallel}, "
        f"{_count(found.gpus, 'GPU')}{price}: TTFT p95 {_ms(found.latency.ttft_p95)}, "
        f"ITL p95 {_ms(found.latency.itl_p95)}"
    )


def _charts(found: Sizing) -> tuple[Chart, Chart]:
    targets, rate = targets_of(found.workload.slo), found.workload.traffic.requests_per_second

    def line(name: str, field: str, color: str, marker: str) -> Line:
        way = {"apart": "disaggregated", "together": "aggregated, the same GPUs"}[name]
        points = [(point.rate, getattr(getattr(point, name), field)) for point in found.curve]
        return Line(way, points, color, marker)

    return (
        Chart(
            "time to first token, 95th percentile",
            [line("apart", "ttft_p95", "blue", "d"), line("together", "ttft_p95", "red", "a")],
            targets.ttft_p95_seconds,
            rate,
        ),
        Chart(
            "time between tokens, 95th percentile",
            [line("apart", "itl_p95", "blue", "d"), line("together", "itl_p95", "red", "a")],
            targets.itl_p95_seconds,
            rate,
        ),
    )


def _as_data(found: Sizing) -> dict[str, Any]:
    data = asdict(found) | {
        "workload": found.workload.model_dump(mode="json"),
        "options": [_option_data(option) for option in found.options],
        "specification": found.specification,
    }
    finite: dict[str, Any] = _finite(data)
    return finite


def _option_data(option: Option) -> dict[str, Any]:
    return asdict(option) | {
        "ttft_accuracy": _accuracy_data(option.ttft_accuracy),
        "itl_accuracy": _accuracy_data(option.itl_accuracy),
        "quotas": [{"code": need.quota.code, "name": need.quota.name, "vcpus": need.vcpus} for need in option.quotas],
    }


def _accuracy_data(found: Accuracy) -> dict[str, Any]:
    return asdict(found) | {"is_order_of_magnitude": found.is_order_of_magnitude}


def _finite(value: Any) -> Any:
    """Return data without numbers that JSON lacks: what has no end is null."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _named(option: Option) -> str:
    return f"{_nodes(option.prefill)} for prefill, {_nodes(option.decode)} for decode"


def _nodes(nodes: tuple[str, int]) -> str:
    return f"{nodes[1]} x {nodes[0]}"


def _count(number: int, of: str) -> str:
    return f"{number:,} {of}" if number == 1 else f"{number:,} {of}s"


def _money(amount: float) -> str:
    """Return an amount to the hundredth, and a smaller one to two digits: it is not nothing."""
    return f"{amount:,.2f}" if amount >= LEAST_SHOWN else f"{amount:.2g}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms" if seconds < 0.1 else f"{seconds * 1000:,.0f} ms"
