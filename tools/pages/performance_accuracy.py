"""The page of the predicted latencies beside published benchmarks."""

from __future__ import annotations

from statistics import median

from benchmarks.latencies import ORDER_OF_MAGNITUDE, Compared, compared, published_latencies
from benchmarks.verdicts import Study, studies
from tools.pages.table import NOTE, table

VERDICTS = (
    "\n## The advice beside published studies\n\n"
    "Studies that compared both ways on the same GPUs, and what the planner says of them. Nothing was fitted to them.\n"
    "The data is in `benchmarks/published_verdicts.yaml`.\n\n"
)


def performance_accuracy_page() -> str:
    """Return the predicted latencies beside the published ones."""
    found = [each for row in published_latencies() for each in compared(row)]
    head = (
        "# Predicted latencies beside published benchmarks\n\n"
        "What people measured, beside what [the planner predicts](performance.md) from the model's `config.json`, the\n"
        "GPU's data sheet and the shares of `gpu_speed.yaml` and `engine_speed.yaml`. Times are means where the table\n"
        f"does not say otherwise. Where the error is beyond {ORDER_OF_MAGNITUDE:.0%}, the last column says `order of\n"
        "magnitude`: more is not to be read into the number. Most of these engines are not vLLM 0.26.0.\n\n"
        "Shares and times were chosen by hand to meet the rows marked `fitted`. The others were held out: no number\n"
        "was chosen by them, though they were seen. The data is in `benchmarks/published_latencies.yaml`. A run of\n"
        "`concurrency` keeps so many requests under way; with `10 waves` each place had ten, and all places asked at\n"
        "once at the start, so a tenth of the requests waited for a whole wave of prompts.\n\n"
    )
    rows = [_row(each) for each in found]
    columns = ("table", "run", "GPUs", "server", "tokens", "load", "what", "published", "predicted", "error", "")
    sources = {each.row.source: (each.row.table, each.row.note, str(each.row.date)) for each in found}
    return (
        NOTE
        + head
        + _summary(found)
        + table(columns, rows)
        + "\n## Sources\n\n"
        + table(
            ("table", "source", "note", "date"),
            [(name, source, note, date) for source, (name, note, date) in sources.items()],
        )
        + VERDICTS
        + table(
            ("study", "found", "advice", "published", "predicted", "what it says", "note", "source, date"),
            map(_verdict, studies()),
        )
    )


def _verdict(study: Study) -> tuple[str, ...]:
    advice = study.advice()
    return (
        study.study,
        study.found,
        advice.verdict,
        f"{study.published_ratio:.2f} times the rate" if study.published_ratio else "",
        f"{advice.rate_ratio:.2f} times the rate",
        study.claim,
        study.note,
        f"{study.source}, {study.date}",
    )


def _summary(found: list[Compared]) -> str:
    lines = []
    for title, what in (("time between tokens", "ITL"), ("time to first token", "TTFT"), ("whole batch", "total")):
        for fitted in (False, True):
            errors = [abs(each.error) for each in found if each.what == what and each.row.fitted is fitted]
            lines.append(
                (
                    title,
                    "fitted" if fitted else "held out",
                    str(len(errors)),
                    f"{median(errors):.0%}" if errors else "",
                    str(sum(error > ORDER_OF_MAGNITUDE for error in errors)),
                    f"{max(errors):.0%}" if errors else "",
                )
            )
    return table(("what", "rows", "numbers", "median error", "order of magnitude", "worst"), lines) + "\n"


def _row(each: Compared) -> tuple[str, ...]:
    row = each.row
    return (
        row.table,
        f"{row.title}, fitted" if row.fitted else row.title,
        f"{row.engines} x {row.tensor_parallel} {row.gpu.split(' ')[0]}",
        row.server,
        f"{row.prompt_tokens} / {row.output_tokens}",
        _load(each),
        each.what,
        f"{each.published_ms:,.1f} ms",
        f"{each.predicted_ms:,.1f} ms",
        f"{each.error:+.0%}",
        "order of magnitude" if each.is_order_of_magnitude else "",
    )


def _load(each: Compared) -> str:
    row = each.row
    if row.load == "concurrency":
        return f"concurrency {row.requests:g}" + (f", {row.waves} waves" if row.waves else "")
    return f"{row.requests:g}/s" if row.load == "rate" else f"batch {row.requests:g}"
