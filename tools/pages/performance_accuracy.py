"""The page of the predicted latencies beside published benchmarks, and of the advice beside published studies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import median
from typing import Final

from benchmarks.latencies import Compared, compared, published_latencies
from benchmarks.verdicts import Study, studies
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.catalog.rows import PredictionErrorRow
from constructs_pd.planning.performance.accuracy import (
    LEAST_NUMBERS,
    ORDER_OF_MAGNITUDE,
    Accuracy,
    Time,
    accuracy_of,
    usual_error,
)
from tools.pages.table import NOTE, table

LOADS: Final = {
    "alone": "one request",
    "batch": "a batch",
    "rate": "a stated rate",
    "closed_loop": "so many under way",
}
TIMES: Final = {"TTFT": "time to first token", "ITL": "time between tokens", "whole": "whole batch"}
GPU_TIMES: Final[tuple[Time, ...]] = ("TTFT", "ITL")
HEAD: Final = f"""\
# Predicted latencies beside published benchmarks

What people measured, beside what [the planner predicts](performance.md) from the model's `config.json`, the GPU's data
sheet and the shares of `gpu_speed.yaml` and `engine_speed.yaml`. Times are means where a note does not say otherwise.
Every prediction is the one that a user gets. Where its error is beyond {ORDER_OF_MAGNITUDE:.0%}, the last column says
`order of magnitude`: more is not to be read into the number. Most of these engines are not vLLM 0.26.0.

Shares and times were chosen by hand to meet the rows marked `fitted`, which count for nothing below. The others were
held out: no number was chosen by them, though some were seen. `make pages` works the predictions out from
`benchmarks/published_latencies.yaml`, which has every setting, and stores them in
`constructs_pd/planning/catalog/data/prediction_errors.yaml`: this page and the command are made from that file.

## What the planner says of itself

`constructs-pd size`, `explain`, PD232 and PD235 say `order of magnitude` by this table, TTFT by the GPU of prefill and
ITL by that of decode. It counts every number of the GPU that was held out, whole batches as ITL, and gives the error
that three in four of them do not exceed. Of fewer than {LEAST_NUMBERS} numbers nothing can be said.

"""
SUMMARY: Final = """
## How far off, by what was measured

In a run with `so many under way`, a request follows where one ends, and all places ask at once at the start: with ten
waves a tenth of the requests waits for a whole wave of prompts. The planner predicts requests that arrive at random at
a rate, here the rate that so many under way come to as predicted. It knows of no such start, so its TTFT is far below
what these runs publish; they count all the same, since little else is published of GPUs under load. `apart` are prefill
and decode on engines of their own, `together` engines of both.

"""
CLOSED: Final = """
## TTFT of runs that keep so many requests under way

"""
VERDICTS: Final = """
## The advice beside published studies

Studies that compared both ways on the same GPUs, and what the planner says of them, with the engines that were
published. Nothing was fitted to them. The data is in `benchmarks/published_verdicts.yaml`. `published` and `predicted`
are how many times as many requests are served apart, within the stated times. `measured` is what was run both ways,
`composed` what was put together from measurements of parts.

Decode's threads post a read for each layer and block, for which it answers nothing ([hand_over.md](hand_over.md)). That
is how vLLM's NixlConnector works, so it is reckoned of the studies that ran it, and of no other engine's hand-over. No
latency of it was published: how much it slows decode down is reckoned from the time of a read alone.

"""


def performance_accuracy_page() -> str:
    """Return the predicted latencies beside the published ones."""
    stored = load_catalog().prediction_errors
    found = [(each, stored[each.number]) for row in published_latencies() for each in compared(row)]
    sources = {
        source: f"[{index}]" for index, source in enumerate(dict.fromkeys(_source(each) for each, _ in found), 1)
    }
    closed = [(each, error) for each, error in found if error.load == "closed_loop" and error.time == "TTFT"]
    others = [pair for pair in found if pair not in closed]
    columns = (
        "table",
        "run",
        "GPUs",
        "server",
        "tokens",
        "load",
        "what",
        "published",
        "predicted",
        "error",
        "",
        "source",
    )

    def numbers(pairs: Iterable[tuple[Compared, PredictionErrorRow]]) -> str:
        return table(columns, (_number(each, error, sources[_source(each)]) for each, error in pairs))

    return "".join(
        (
            NOTE,
            HEAD,
            _by_gpu(),
            SUMMARY,
            _by_kind(list(stored.values())),
            "\n## The numbers\n\n",
            numbers(others),
            CLOSED,
            numbers(closed),
            "\n## Sources\n\n",
            table(("", "source", "note", "date"), ((name, *source) for source, name in sources.items())),
            VERDICTS,
            table(
                (
                    "study",
                    "found",
                    "advice",
                    "",
                    "how",
                    "published",
                    "predicted",
                    "what it says",
                    "note",
                    "source, date",
                ),
                map(_verdict, studies()),
            ),
        )
    )


def _by_gpu() -> str:
    catalog = load_catalog()
    rows = [(gpu, time) for gpu in catalog.gpu_speed for time in GPU_TIMES]
    columns = ("GPU", "time", "numbers", "three in four within", "")
    return table(columns, (_accuracy(gpu, accuracy_of(catalog, gpu, time)) for gpu, time in rows))


def _accuracy(gpu: str, found: Accuracy) -> tuple[str, ...]:
    error = "" if found.error is None else f"{found.error:.0%}"
    return gpu, found.time, str(found.numbers), error, "order of magnitude" if found.is_order_of_magnitude else ""


def _by_kind(rows: list[PredictionErrorRow]) -> str:
    columns = ("what", "how", "load", "rows", "numbers", "median", "three in four within", "beyond 30%", "worst")
    return table(columns, _kinds(rows))


def _kinds(rows: list[PredictionErrorRow]) -> Iterator[tuple[str, ...]]:
    for time, title in TIMES.items():
        for is_fitted in (False, True):
            for is_apart in (False, True):
                for load, words in LOADS.items():
                    kind = (time, load, is_apart, is_fitted)
                    errors = [row for row in rows if (row.time, row.load, row.is_apart, row.is_fitted) == kind]
                    if errors:
                        how, which = "apart" if is_apart else "together", "fitted" if is_fitted else "held out"
                        yield title, how, words, which, *_statistics(errors)
        held_out = [row for row in rows if row.time == time and not row.is_fitted]
        yield title, "all", "all", "held out", *_statistics(held_out)


def _statistics(rows: list[PredictionErrorRow]) -> tuple[str, ...]:
    errors = [abs(row.error) for row in rows]
    beyond = sum(error > ORDER_OF_MAGNITUDE for error in errors)
    return str(len(rows)), f"{median(errors):.0%}", f"{usual_error(rows) or 0:.0%}", str(beyond), f"{max(errors):.0%}"


def _verdict(study: Study) -> tuple[str, ...]:
    advice = study.advice()
    return (
        study.study,
        study.found,
        advice.verdict,
        "as found" if study.is_found(advice.verdict) else "otherwise",
        "measured" if study.is_measured else "composed",
        f"{study.published_ratio:.2f}" if study.published_ratio else "",
        f"{advice.rate_ratio:.2f}",
        study.claim,
        "; ".join(filter(None, (f"weak: {study.weak}" if study.weak else "", study.note))),
        f"{study.source}, {study.date}",
    )


def _source(each: Compared) -> tuple[str, str, str]:
    return each.row.source, each.row.note, str(each.row.date)


def _number(each: Compared, stored: PredictionErrorRow, source: str) -> tuple[str, ...]:
    row = each.row
    return (
        row.table,
        f"{row.title}, fitted" if row.fitted else row.title,
        row.gpus,
        row.server,
        f"{row.prompt_tokens} / {row.output_tokens}",
        row.stated_load,
        stored.time,
        f"{stored.published_ms:,.1f} ms",
        f"{stored.predicted_ms:,.1f} ms",
        f"{stored.error:+.0%}",
        "order of magnitude" if abs(stored.error) > ORDER_OF_MAGNITUDE else "",
        source,
    )
