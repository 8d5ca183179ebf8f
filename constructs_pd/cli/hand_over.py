"""The KV hand-over in the output of `constructs-pd plan`: its ways, and what the traffic asks of the links."""

from __future__ import annotations

from collections.abc import Iterator

from constructs_pd.cli import output
from constructs_pd.cli.output import Column, Group
from constructs_pd.planning.hand_over_plan import HandOverPlan, SustainedPlan, TransferPlan


def print_hand_over(found: HandOverPlan | None) -> None:
    """Print the budget of the hand-over."""
    if found is None:
        output.line("KV hand-over: not known (PD225)")
        return
    columns = [Column("KV hand-over", may_break=True), Column("Gbit/s", is_number=True)]
    columns.append(Column(f"{found.longest_tokens:,} tokens", is_number=True))
    if found.prompt_tokens is not None:
        columns.append(Column(f"{found.prompt_tokens:,} tokens", is_number=True))
    sizes = ["bytes of a request", "", _megabytes(found.longest_bytes)]
    if found.prompt_bytes is not None:
        sizes.append(_megabytes(found.prompt_bytes))
    output.table(columns, [Group("", [sizes, *(_way(way) for way in found.paths)])])
    if found.sustained is not None:
        output.line()
        for text in _sustained(found.sustained):
            output.line(text)
    output.line(found.over_tcp, style="dim")


def _way(way: TransferPlan) -> list[str]:
    title = way.title if way.is_planned else f"for comparison: {way.title}"
    cells = [title, f"{way.gbps:,.1f}", _milliseconds(way.longest_seconds)]
    return cells if way.prompt_seconds is None else [*cells, _milliseconds(way.prompt_seconds)]


def _sustained(asked: SustainedPlan) -> Iterator[str]:
    yield (
        f"{asked.requests_per_second:g} requests a second ask for {asked.demand_gbps:,.1f} Gbit/s: "
        f"{asked.utilization:.0%} of the link, which is full at {asked.most_requests_per_second:,.1f}"
    )
    yield f"what the hand-over adds to the time to first token: {asked.added_ttft}"


def _megabytes(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.1f} MB"


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"
