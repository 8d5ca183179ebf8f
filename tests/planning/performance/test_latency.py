"""What clients see of both ways, against arithmetic by hand."""

from __future__ import annotations

from dataclasses import replace
from math import exp, isfinite, log, sqrt

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.performance.aggregated import Aggregated
from constructs_pd.planning.performance.batch import batch_at
from constructs_pd.planning.performance.disaggregated import Disaggregated, HandOver
from constructs_pd.planning.performance.latency import Requests
from constructs_pd.planning.performance.mixed import Mixed
from constructs_pd.planning.performance.most import full_rate, most_rate
from constructs_pd.planning.performance.queueing import waiting
from constructs_pd.planning.performance.roofline import Engine
from constructs_pd.planning.performance.work import work_of
from constructs_pd.planning.spec_targets import Targets

CATALOG = load_catalog()
ALIKE = Requests(2000, 0, 200, 0.0)
NO_HAND_OVER = HandOver(0.0, 0.0, 0.0, 0.0, 0.0)


def engine(gpu: str = "H100 81920", capability: str = "9.0", gpus: int = 1, sequences: int = 256) -> Engine:
    facts = CATALOG.models["Qwen/Qwen3-8B"].facts
    assert facts is not None
    work = work_of(facts, gpus, capability)
    return Engine(work, CATALOG.gpu_speed[gpu], CATALOG.engine_speed["0.26.0"], gpus, 8192, sequences)


def test_a_batch_is_what_littles_law_puts_into_it() -> None:
    found = batch_at(2.0, 100.0, 256, lambda batch: 0.01 + 0.0001 * batch)
    assert found == pytest.approx(2 * 100 * 0.01 / (1 - 2 * 100 * 0.0001), rel=1e-4)
    assert batch_at(200.0, 100.0, 256, lambda batch: 0.01) == pytest.approx(200, rel=1e-4)
    assert batch_at(300.0, 100.0, 256, lambda batch: 0.01) is None
    assert batch_at(0.0, 100.0, 256, lambda batch: 0.01) == 0


def test_quantiles_of_lengths_are_log_normal() -> None:
    assert ALIKE.prompt_quantile(0.95) == 1
    spread = replace(ALIKE, variation=1.0)
    assert spread.prompt_quantile(0.5) == pytest.approx(exp(-log(2) / 2))
    assert spread.prompt_quantile(0.95) == pytest.approx(exp(1.6449 * sqrt(log(2)) - log(2) / 2))


def test_apart_each_part_adds_up() -> None:
    one = engine()
    hand_over = HandOver(0.003, 0.01, 0.02, 0.02, 0.02)
    served, rate = Disaggregated(one, one, 1, 1, hand_over), 3.0
    found = served.latency(ALIKE, rate)
    prompt = one.prompt_seconds(2000)
    wait = waiting(rate, one.prompt_share_seconds(2000), 1, 0.0)
    transfer = 0.003 + 0.01 / (1 - rate * 0.01) + 0.02 / (1 - rate * 0.02)
    fixed = (one.speed.request_ms + one.speed.hop_ms) / 1000
    assert found.itl_mean == found.itl_p95
    assert found.ttft_mean == pytest.approx(fixed + wait.mean + prompt + transfer + found.itl_mean, rel=1e-3)
    assert found.ttft_p95 == pytest.approx(fixed + wait.quantile(0.95) + prompt + transfer + found.itl_mean, rel=1e-3)
    batch = rate * 200 * found.itl_mean
    step = one.step_seconds(sequences=batch, context_tokens=2100) / (1 - rate * 0.01)
    assert found.itl_mean == pytest.approx(step, rel=1e-3)


def test_together_prompts_take_their_share_of_each_second() -> None:
    one, rate = engine(), 8.0
    found = Aggregated(one, 1).latency(ALIKE, rate)
    batch = rate * 200 * found.itl_mean
    alone = one.step_seconds(sequences=batch, context_tokens=2100)
    added = one.prompt_share_seconds(2000, sequences=batch, context_tokens=2100) - 2000 / 8192 * alone
    assert found.itl_mean == pytest.approx(alone / (1 - rate * added), rel=1e-3)
    assert found.itl_p95 == pytest.approx(one.prompt_seconds(2000, sequences=batch, context_tokens=2100), rel=1e-3)
    calm = Aggregated(one, 1).latency(ALIKE, 0.5)
    assert calm.itl_p95 < 1.1 * calm.itl_mean  # too few steps have a prompt in them


def test_a_full_part_is_named() -> None:
    one = engine()
    long, short = replace(ALIKE, output_tokens=1), replace(ALIKE, prompt_tokens=10, output_tokens=5000)
    served = Disaggregated(one, one, 1, 1, NO_HAND_OVER)
    assert (served.latency(long, 1000).bottleneck, served.latency(short, 1000).bottleneck) == ("prefill", "decode")
    narrow = replace(served, hand_over=HandOver(0.0, 0.0, 2.0, 2.0, 2.0))
    found = narrow.latency(long, 1.0)
    assert (found.bottleneck, found.is_saturated) == ("link", True)
    posting = replace(served, hand_over=HandOver(0.0, 2.0, 0.0, 0.0, 0.0))
    assert posting.latency(long, 1.0).is_saturated
    together = Aggregated(one, 1).latency(ALIKE, 1000)
    assert (together.bottleneck, together.is_saturated) == ("engines", True)
    assert together.utilization > 1


def test_where_all_places_are_taken_requests_wait_for_one() -> None:
    few, many = (Disaggregated(engine(), engine(sequences=number), 8, 1, NO_HAND_OVER) for number in (16, 256))
    rate = 0.97 * full_rate(few, ALIKE)
    assert few.latency(ALIKE, rate).ttft_mean > 1.5 * many.latency(ALIKE, rate).ttft_mean


def test_a_prefix_that_is_cached_is_not_computed_and_is_looked_at_all_the_same() -> None:
    one = engine()
    cached, short = Requests(500, 1500, 200, 0.0), Requests(500, 0, 200, 0.0)
    served = Disaggregated(one, one, 1, 1, NO_HAND_OVER)
    whole, part, alone = (served.latency(requests, 1.0).ttft_mean for requests in (ALIKE, cached, short))
    assert alone < part < whole


def test_the_most_rate_is_where_a_target_is_just_met() -> None:
    served, targets = Aggregated(engine(), 2), Targets(itl_seconds=0.012)
    most = most_rate(served, ALIKE, targets)
    assert served.latency(ALIKE, most).itl_mean == pytest.approx(0.012, rel=1e-3)
    assert most < full_rate(served, ALIKE)
    assert most_rate(served, ALIKE, Targets(itl_seconds=0.001)) == 0
    assert served.latency(ALIKE, most_rate(served, ALIKE, Targets())).utilization == pytest.approx(0.8, rel=1e-3)


def test_nodes_of_two_kinds_share_in_proportion_to_what_they_can() -> None:
    strong, weak = Aggregated(engine(), 1), Aggregated(engine("L40S 45776", "8.9"), 1)
    both = Mixed((strong, weak), ALIKE)
    rates = [full_rate(each, ALIKE) for each in (strong, weak)]
    assert rates[0] > 2 * rates[1]
    assert full_rate(both, ALIKE) == pytest.approx(sum(rates), rel=1e-3)
    found = both.latency(ALIKE, 0.5 * sum(rates))
    parts = [each.latency(ALIKE, 0.5 * rate) for each, rate in zip((strong, weak), rates, strict=True)]
    assert found.ttft_p95 == pytest.approx(max(part.ttft_p95 for part in parts))
    assert parts[0].itl_mean < found.itl_mean < parts[1].itl_mean
    assert both.latency(ALIKE, 2 * sum(rates)).is_saturated
    assert isfinite(both.latency(ALIKE, 2 * sum(rates)).utilization)
