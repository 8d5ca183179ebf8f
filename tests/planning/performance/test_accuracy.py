"""How far predictions are to be trusted, from stored errors alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.catalog.rows import PredictionErrorRow
from constructs_pd.planning.facts import gather
from constructs_pd.planning.performance.accuracy import (
    Accuracy,
    Time,
    accuracies,
    accuracy_of,
    orders_of_magnitude,
    usual_error,
)
from constructs_pd.planning.rules import performance_terms
from support.specs import spec_with

CATALOG = load_catalog()


def row(
    index: int, error: float, *, time: str = "ITL", is_fitted: bool = False, gpu: str = "H9 1"
) -> PredictionErrorRow:
    return PredictionErrorRow.model_validate(
        {
            "number": f"{index}, {time}, {gpu}, {is_fitted}",
            "gpu": gpu,
            "time": time,
            "load": "rate",
            "is_apart": False,
            "is_fitted": is_fitted,
            "published_ms": 100.0,
            "predicted_ms": 100.0 * (1 + error),
            "source": "a table",
            "date": date(2026, 1, 1),
        }
    )


def accuracy(*rows: PredictionErrorRow, time: Time = "ITL") -> Accuracy:
    return accuracy_of(replace(CATALOG, prediction_errors={each.number: each for each in rows}), "H9 1", time)


def test_it_is_the_error_that_three_in_four_do_not_exceed() -> None:
    rows = [row(index, error) for index, error in enumerate((0.01, -0.3, 0.02, -0.9))]
    found = accuracy(*rows)
    assert (found.time, found.gpu, found.numbers) == ("ITL", "H9", 4)
    assert found.error == pytest.approx(0.3)
    assert usual_error([]) is None


def test_what_was_fitted_another_gpu_and_another_time_do_not_count() -> None:
    rows = [row(index, 0.1) for index in range(4)]
    others = [row(5, 0.9, is_fitted=True), row(6, 0.9, gpu="H8 1"), row(7, 0.9, time="TTFT")]
    assert accuracy(*rows, *others) == accuracy(*rows)
    assert accuracy(*rows, row(8, 0.1, time="whole")).numbers == 5
    assert accuracy(*rows, *others, time="TTFT").numbers == 1


@pytest.mark.parametrize(
    ("errors", "sentence"),
    [
        ([], "ITL is an order of magnitude: no published number of H9 was found"),
        ([0.1], "ITL is an order of magnitude: only 1 published number of H9 can be compared"),
        ([0.1] * 3, "ITL is an order of magnitude: only 3 published numbers of H9 can be compared"),
        ([0.1] * 4, "ITL was predicted within 10% of three in four of 4 published numbers of H9"),
        ([0.29] * 5, "ITL was predicted within 29% of three in four of 5 published numbers of H9"),
        (
            [0.31] * 5,
            "ITL is an order of magnitude: a quarter of 5 published numbers of H9 were missed by more than 31%",
        ),
    ],
)
def test_it_is_said_with_how_many_numbers_there_are(errors: list[float], sentence: str) -> None:
    found = accuracy(*(row(index, error) for index, error in enumerate(errors)))
    assert found.sentence == sentence
    assert found.is_order_of_magnitude == ("order of magnitude" in sentence)


def test_messages_end_with_what_is_an_order_of_magnitude() -> None:
    rough, sure = Accuracy("TTFT", "H9", 9, 0.5), Accuracy("ITL", "H9", 9, 0.1)
    assert orders_of_magnitude(sure) == ""
    assert orders_of_magnitude(rough, sure) == "; TTFT is an order of magnitude"
    assert orders_of_magnitude(rough, Accuracy("ITL", "H9", 0, None)) == "; TTFT and ITL are orders of magnitude"


def test_ttft_goes_by_prefills_gpu_and_itl_by_decodes() -> None:
    changes = {"prefill.instance_type": "p5.48xlarge", "decode.instance_type": "g6.8xlarge"}
    ttft, itl = accuracies(gather(spec_with(changes), CATALOG))
    assert (ttft.time, ttft.gpu, itl.time, itl.gpu) == ("TTFT", "H100", "ITL", "L4")
    unknown = accuracies(gather(spec_with({"prefill.instance_type": "p9.48xlarge"}), CATALOG))[0]
    assert unknown.sentence == "TTFT is an order of magnitude: no published number of the GPU was found"


def test_the_numbers_that_explain_shows_come_with_their_accuracy() -> None:
    traffic = {"requests_per_second": 0.01, "prompt_tokens": 200, "output_tokens": 50}
    facts = gather(spec_with({"traffic": traffic}), CATALOG)
    lines = list(performance_terms.worked(facts))
    assert [accuracy.sentence for accuracy in accuracies(facts)] == [line for line in lines if "magnitude" in line]
    assert len([line for line in lines if "magnitude" in line]) == 2


# Read off the stored rows by hand.
@pytest.mark.parametrize(
    ("gpu", "time", "numbers", "error"),
    [
        ("H100 81920", "TTFT", 27, 0.67),
        ("H100 81920", "ITL", 24, 0.09),
        ("H200 144384", "TTFT", 5, 0.57),
        ("H200 144384", "ITL", 8, 0.08),
        ("B200 183359", "TTFT", 5, 0.67),
        ("B200 183359", "ITL", 5, 0.12),
        ("A100 81920", "TTFT", 5, 0.35),
        ("A100 81920", "ITL", 12, 0.11),
        ("L40S 45776", "TTFT", 1, 0.16),
    ],
)
def test_the_accuracy_on_gpus_that_were_measured(gpu: str, time: Time, numbers: int, error: float) -> None:
    found = accuracy_of(CATALOG, gpu, time)
    assert found.numbers == numbers
    assert found.error == pytest.approx(error, abs=0.006)


@pytest.mark.parametrize("gpu", ["L4 22888", "A10G 22888", "B300 275040"])
def test_nothing_is_known_of_the_others(gpu: str) -> None:
    assert accuracy_of(CATALOG, gpu, "ITL") == Accuracy("ITL", gpu.rpartition(" ")[0], 0, None)


@pytest.mark.parametrize(
    ("instance", "gpu", "numbers"), [("p4d.24xlarge", "A100 40 GB", 0), ("p4de.24xlarge", "A100 80 GB", 12)]
)
def test_which_of_two_gpus_of_one_name_is_said(instance: str, gpu: str, numbers: int) -> None:
    found = accuracies(gather(spec_with({"decode.instance_type": instance}), CATALOG))[1]
    assert (found.gpu, found.numbers) == (gpu, numbers)
    assert f"of {gpu}" in found.sentence
