"""The advice beside what published studies found, agreed or not."""

from __future__ import annotations

from math import ceil
from typing import Final

import pytest

from benchmarks.latencies import published_latencies
from benchmarks.verdicts import Study, studies

# What the planner says today. A study that comes out otherwise than it found stands here as it is.
ADVICE: Final = {
    "crazyguitar/pysheeet: 4 nodes, DeepSeek-V2-Lite, 1P3D": "no",
    "crazyguitar/pysheeet: 4 nodes, DeepSeek-V2-Lite, 2P2D, short prompts": "no",
    "Mooncake and SGLang: two A10 servers, 4 requests a second": "marginal",
    "Mooncake and SGLang: two A10 servers, 1 request a second of long prompts": "marginal",
    "AIConfigurator: Qwen3-32B FP8 on 32 H200": "no",
    "Triton distributed (Dynamo): Llama 3.1 70B FP8 on 16 H100": "yes",
    "Dynamo and TensorRT-LLM: Qwen3 32B NVFP4 on 64 B200": "yes",
    "Dynamo and TensorRT-LLM: Qwen3 32B NVFP4 on 64 GB200": "yes",
}
OTHERWISE: Final = {
    "Mooncake and SGLang: two A10 servers, 1 request a second of long prompts",
    "AIConfigurator: Qwen3-32B FP8 on 32 H200",
}


def by_name(study: Study) -> str:
    return study.study


@pytest.mark.parametrize("study", studies(), ids=by_name)
def test_the_advice_is_as_it_is_stored(study: Study) -> None:
    assert study.advice().verdict == ADVICE[study.study]


def test_every_study_is_stored_and_those_that_come_out_otherwise_are_named() -> None:
    assert {study.study for study in studies()} == set(ADVICE)
    assert {study.study for study in studies() if not study.is_found(study.advice().verdict)} == OTHERWISE


@pytest.mark.parametrize("found", ["gain", "loss"])
def test_the_advice_agrees_with_two_measured_studies_of_different_sources(found: str) -> None:
    measured = [study for study in studies() if study.is_measured and study.found == found]
    agreed = [study for study in measured if study.is_found(study.advice().verdict)]
    assert len({study.source.partition(" ")[0] for study in agreed}) >= 2


@pytest.mark.parametrize("study", studies(), ids=by_name)
def test_both_ways_have_the_same_gpus(study: Study) -> None:
    apart, together = study.gpus
    assert apart == together


def test_a_study_has_the_engines_that_were_published() -> None:
    (study,) = (each for each in studies() if each.study.startswith("AIConfigurator"))
    assert (study.prefill.engines, study.prefill.tensor_parallel) == (16, 1)


@pytest.mark.parametrize(
    "study",
    [each for each in studies() if each.found == "gain" and each.is_measured and each.published_ratio is not None],
    ids=by_name,
)
def test_a_gain_is_of_the_published_order(study: Study) -> None:
    assert study.advice().rate_ratio == pytest.approx(study.published_ratio, rel=0.4)


def test_what_a_source_does_not_say_is_marked() -> None:
    assert {study.study for study in studies() if study.weak} == {name for name in ADVICE if "pysheeet" in name}


@pytest.mark.parametrize("study", [each for each in studies() if "silicon_sample.csv" in each.source], ids=by_name)
def test_the_rates_of_runs_with_so_many_under_way_are_what_their_times_come_to(study: Study) -> None:
    rates = {True: 0.0, False: 0.0}
    for row in published_latencies():
        if row.source.rpartition(" ")[2] in study.source:
            assert row.ttft_ms is not None
            assert row.itl_ms is not None
            rates[row.prefill_engines > 0] = row.requests / (row.ttft_ms + (row.output_tokens - 1) * row.itl_ms) * 1e3
    assert rates[True] == pytest.approx(study.rate, rel=0.01)
    assert f"so {rates[False]:.1f}" in study.claim
    if study.published_ratio is not None:
        assert study.published_ratio == pytest.approx(rates[True] / rates[False], abs=0.01)


def test_reads_are_posted_one_for_each_block_and_layer() -> None:
    study = next(each for each in studies() if each.study.startswith("Triton"))
    assert study.hand_over_to(study.engine_of(8, 256), 2).posting_seconds == 0  # it was not vLLM's connector
    hand_over = study.model_copy(update={"posts_reads": True}).hand_over_to(study.engine_of(8, 256), 2)
    assert hand_over.posting_seconds == pytest.approx(80 * ceil(3000 / 16) * 2.44e-6)
    assert hand_over.fixed_seconds == pytest.approx(0.003)
    # 80 layers, 8 heads of keys and 8 of values on 8 GPUs together, 128 numbers of a byte each, over 800 Gbit/s.
    assert hand_over.wire_seconds == pytest.approx(3000 * 80 * 2 * 8 * 128 * 8 / 800e9)
    # Prefill's two GPUs have a quarter of the links of decode's eight.
    assert hand_over.prefill_seconds == hand_over.wire_seconds == 4 * hand_over.decode_seconds
    latent = next(each for each in studies() if "short prompts" in each.study)
    posting = latent.hand_over_to(latent.engine_of(8, 256), 8).posting_seconds
    assert posting == pytest.approx(27 * 512 / 64 * 2.44e-6)  # FlashMLA's blocks


def test_reads_are_posted_in_the_runs_of_vllms_connector_alone() -> None:
    assert {study.study for study in studies() if study.posts_reads} == {name for name in ADVICE if "pysheeet" in name}
    assert not any(row.posts_reads for row in published_latencies())


@pytest.mark.parametrize("study", studies(), ids=by_name)
def test_no_prefill_engine_is_wider_so_that_each_gpu_reads_from_one(study: Study) -> None:
    assert study.prefill.tensor_parallel <= study.decode.tensor_parallel
