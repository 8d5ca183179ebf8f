"""The predicted latencies agree with published benchmarks, as far as the page says."""

from __future__ import annotations

import csv
from importlib.resources import files
from math import isfinite
from statistics import median

import pytest

from benchmarks.latencies import ORDER_OF_MAGNITUDE, PublishedLatency, compared, published_latencies, usual_errors
from constructs_pd.planning.catalog import load_catalog

FOUND = [each for row in published_latencies() for each in compared(row)]
HELD_OUT = [each for each in FOUND if not each.row.fitted]
IN_CSV = [row for row in published_latencies() if "silicon_sample.csv" in row.source]


def test_there_are_enough_tables_of_different_kinds() -> None:
    rows = published_latencies()
    assert len({row.table for row in rows}) >= 5
    assert len({row.gpu for row in rows}) >= 5
    assert len({row.source for row in rows}) >= 5
    assert {row.load for row in rows} == {"engine", "batch", "concurrency", "rate"}
    assert {row.tensor_parallel for row in rows} >= {1, 2, 4, 8}
    assert any(row.prefill_engines for row in rows)
    assert len(HELD_OUT) >= 80


def test_every_prediction_is_a_number() -> None:
    assert all(isfinite(each.predicted_ms) and each.predicted_ms > 0 for each in FOUND)


@pytest.mark.parametrize(("what", "most"), [("ITL", 0.1), ("TTFT", 0.25), ("total", 0.1)])
def test_the_median_error_of_what_was_held_out(what: str, most: float) -> None:
    errors = [abs(each.error) for each in HELD_OUT if each.what == what]
    assert len(errors) >= 4
    assert median(errors) <= most


def test_most_of_what_was_held_out_is_no_order_of_magnitude() -> None:
    rough = [each for each in HELD_OUT if each.is_order_of_magnitude]
    assert len(rough) <= 0.2 * len(HELD_OUT)
    assert all(abs(each.error) > ORDER_OF_MAGNITUDE for each in rough)


def test_what_was_fitted_is_met() -> None:
    errors = [abs(each.error) for each in FOUND if each.row.fitted]
    assert len(errors) >= 10
    assert median(errors) <= 0.1
    assert max(errors) <= 0.4


@pytest.mark.parametrize("row", IN_CSV, ids=lambda row: row.source.rpartition(" ")[2])
def test_a_row_of_the_installed_table_is_copied_rightly(row: PublishedLatency) -> None:
    text = files("aiconfigurator_core").joinpath("systems", "silicon_sample.csv").read_text(encoding="utf-8")
    name = row.source.rpartition(" ")[2]
    found = next(line for line in csv.DictReader(text.splitlines()) if line["id"] == name)
    assert (int(found["isl"]), int(found["osl"])) == (row.prompt_tokens, row.output_tokens)
    assert (int(found["tp_size"]), float(found["batch_size"])) == (row.tensor_parallel, row.requests)
    assert row.ttft_ms == pytest.approx(float(found["silicon_ttft_ms"]), abs=0.006)
    assert row.itl_ms == pytest.approx(float(found["silicon_tpot_ms"]), abs=0.006)


def test_a_gpu_is_measured_where_a_row_was_fitted_to_it_or_to_its_twin() -> None:
    fitted = {row.gpu for row in published_latencies() if row.fitted}
    twins = {"H200 144384": "H100 81920", "A100 40960": "A100 81920"}  # the same chip with other memory
    measured = {gpu for gpu, row in load_catalog().gpu_speed.items() if row.is_measured}
    assert measured == fitted | {gpu for gpu, twin in twins.items() if twin in fitted}


def test_the_usual_errors_of_the_catalogue_are_those_of_the_rows() -> None:
    found = usual_errors()
    for gpu, row in load_catalog().gpu_speed.items():
        first, further = found.get(gpu, (None, None))
        assert row.ttft_error == (None if first is None else pytest.approx(first, abs=0.006))
        assert row.itl_error == (None if further is None else pytest.approx(further, abs=0.006))
