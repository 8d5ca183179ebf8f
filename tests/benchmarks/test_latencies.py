"""The predicted latencies beside published benchmarks: what is stored of them, and that it is what is predicted."""

from __future__ import annotations

import csv
import re
from importlib.resources import files
from math import isfinite
from statistics import median

import pytest

from benchmarks.errors import FILE, as_file, fresh_errors
from benchmarks.latencies import PublishedLatency, compared, published_latencies
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.catalog.rows import PredictionErrorRow

STORED = list(load_catalog().prediction_errors.values())
HELD_OUT = [row for row in STORED if not row.is_fitted]
FRESH = {row["number"]: row for row in fresh_errors()}
IN_CSV = [row for row in published_latencies() if "silicon_sample.csv" in row.source]


def rows(time: str, *, is_fitted: bool = False, is_apart: bool | None = None) -> list[PredictionErrorRow]:
    """Return the stored rows of a kind."""
    found = [row for row in STORED if row.time == time and row.is_fitted is is_fitted]
    return [row for row in found if is_apart is None or row.is_apart is is_apart]


def test_there_are_enough_tables_of_different_kinds() -> None:
    published = published_latencies()
    assert len({row.table for row in published}) >= 5
    assert len({row.gpu for row in published}) >= 5
    assert len({row.source for row in published}) >= 5
    assert {row.load for row in published} == {"engine", "batch", "concurrency", "rate"}
    assert {row.tensor_parallel for row in published} >= {1, 2, 4, 8}
    assert len(HELD_OUT) == 108
    assert len(STORED) == 127


def test_disaggregated_runs_of_several_sources_are_among_them() -> None:
    apart = [row for row in published_latencies() if row.prefill_engines]
    assert len({row.source.partition(",")[0] for row in apart}) >= 3
    assert len([row for row in HELD_OUT if row.is_apart]) == 12
    assert {row.load for row in HELD_OUT if row.is_apart} == {"rate", "closed_loop"}


def test_each_stored_number_is_what_was_published_and_what_is_predicted() -> None:
    assert {row.number for row in STORED} == set(FRESH)
    for row in STORED:
        fresh = FRESH[row.number]
        assert isfinite(fresh["predicted_ms"])
        assert row.predicted_ms == pytest.approx(fresh["predicted_ms"], rel=2e-3), row.number
        assert row.model_dump(exclude={"predicted_ms"}) == {
            key: value for key, value in fresh.items() if key != "predicted_ms"
        }


def test_the_stored_file_is_as_it_is_written() -> None:
    assert FILE.read_text(encoding="utf-8") == as_file(fresh_errors())


# What is written here was read off the stored rows by hand: a worse prediction fails, a better one is written down.
@pytest.mark.parametrize(
    ("time", "numbers", "most_median", "most_beyond"),
    [("ITL", 53, 0.06, 3), ("TTFT", 51, 0.49, 34), ("whole", 4, 0.08, 0)],
)
def test_the_errors_of_what_was_held_out(time: str, numbers: int, most_median: float, most_beyond: int) -> None:
    errors = [abs(row.error) for row in rows(time)]
    assert len(errors) == numbers
    assert median(errors) <= most_median
    assert sum(error > 0.3 for error in errors) <= most_beyond


def test_the_errors_of_disaggregated_runs() -> None:
    errors = {time: sorted(round(row.error, 2) for row in rows(time, is_apart=True)) for time in ("TTFT", "ITL")}
    assert errors == {
        "TTFT": [-0.52, -0.44, -0.08, -0.04, 0.11, 0.55],
        "ITL": [-0.43, -0.3, -0.08, -0.08, 0.02, 0.07],
    }


def test_no_prediction_knows_of_a_start_of_all_at_once() -> None:
    row = next(row for row in published_latencies() if row.waves and row.requests == 64)
    (first, _) = compared(row)
    (other, _) = compared(row.model_copy(update={"waves": 0}))
    assert first.predicted_ms == other.predicted_ms


def test_what_was_fitted_counts_for_itself_alone() -> None:
    fitted = {row.number for row in STORED if row.is_fitted}
    marked = {each.number for row in published_latencies() if row.fitted for each in compared(row)}
    assert fitted == marked
    assert len(fitted) == 19


@pytest.mark.parametrize("row", IN_CSV, ids=lambda row: row.source.rpartition(" ")[2])
def test_a_row_of_the_installed_table_is_copied_rightly(row: PublishedLatency) -> None:
    text = files("aiconfigurator_core").joinpath("systems", "silicon_sample.csv").read_text(encoding="utf-8")
    name = row.source.rpartition(" ")[2]
    found = next(line for line in csv.DictReader(text.splitlines()) if line["id"] == name)
    assert (int(found["isl"]), int(found["osl"])) == (row.prompt_tokens, row.output_tokens)
    assert row.ttft_ms == pytest.approx(float(found["silicon_ttft_ms"]), abs=0.006)
    assert row.itl_ms == pytest.approx(float(found["silicon_tpot_ms"]), abs=0.006)
    at_once = re.search(r"silicon_concurrency=(\d+)", found["silicon_data_source"])
    assert row.requests == int(at_once[1] if at_once else found["batch_size"])
    if row.prefill_engines == 0:
        assert int(found["tp_size"]) == row.tensor_parallel
        assert int(found["batch_size"]) * row.engines == row.requests
    else:
        assert int(found["prefill_num_workers"]) == row.prefill_engines
        assert int(found["prefill_tp_size"]) == row.prefill_tensor_parallel
        assert int(found["decode_num_workers"]) == row.engines - row.prefill_engines
        assert int(found["decode_tp_size"]) == row.tensor_parallel


def test_a_gpu_is_measured_where_a_row_was_fitted_to_it_or_to_its_twin() -> None:
    fitted = {row.gpu for row in published_latencies() if row.fitted}
    twins = {"H200 144384": "H100 81920", "A100 40960": "A100 81920"}  # the same chip with other memory
    measured = {gpu for gpu, row in load_catalog().gpu_speed.items() if row.is_measured}
    assert measured == fitted | {gpu for gpu, twin in twins.items() if twin in fitted}
