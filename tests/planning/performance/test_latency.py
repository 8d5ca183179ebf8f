"""What clients see of both ways, against arithmetic by hand."""

from __future__ import annotations

from dataclasses import replace
from math import exp, inf, isfinite, log, sqrt
from statistics import NormalDist

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.performance.aggregated import Aggregated
from constructs_pd.planning.performance.batch import batch_at
from constructs_pd.planning.performance.disaggregated import Disaggregated, HandOver
from constructs_pd.planning.performance.hand_over_growth import Handed, handed_of
from constructs_pd.planning.performance.latency import Requests
from constructs_pd.planning.performance.mixed import Split, mixed
from constructs_pd.planning.performance.most import full_rate, most_rate
from constructs_pd.planning.performance.queueing import Waiting, waiting
from constructs_pd.planning.performance.roofline import Engine
from constructs_pd.planning.performance.targets import Targets
from constructs_pd.planning.performance.work import work_of

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


def test_apart_each_part_adds_up() -> None:
    one = engine()
    hand_over = HandOver(0.003, 0.01, 0.02, 0.02, 0.02)
    served, rate = Disaggregated(one, one, 1, 1, hand_over), 3.0
    found = served.latency(ALIKE, rate)
    prompt = one.prompt_seconds(2000)
    wait = waiting(rate, one.prompt_share_seconds(2000), 1, 0.0)
    transfer = 0.003 + 0.01 / (1 - rate * 0.01) + 0.02 / (1 - rate * 0.02)
    fixed = (one.speed.request_ms + one.speed.hop_ms) / 1000
    assert found.ttft_mean == pytest.approx(fixed + wait.mean + prompt + transfer + found.itl_mean, rel=1e-3)
    assert found.ttft_p95 == pytest.approx(fixed + wait.quantile(0.95) + prompt + transfer + found.itl_mean, rel=1e-3)
    batch = rate * 200 * found.itl_mean
    step = one.step_seconds(sequences=batch, context_tokens=2100)
    assert found.itl_mean == pytest.approx(step / (1 - rate * 0.01), rel=1e-3)
    assert rate * found.itl_mean < 0.05  # so few steps stand still for a posting
    assert found.itl_p95 == pytest.approx(step, rel=1e-3)


def test_apart_the_tail_is_of_the_steps_that_stand_still_as_often_as_they_come() -> None:
    one, posting, rate = engine(), 0.03, 10.0
    found = Disaggregated(one, one, 4, 1, HandOver(0.003, posting, 0.0, 0.0, 0.0)).latency(ALIKE, rate)
    step = one.step_seconds(sequences=rate * 200 * found.itl_mean, context_tokens=2100)
    assert found.itl_mean == pytest.approx(step / (1 - rate * posting), rel=1e-3)
    assert 1 - exp(-rate * found.itl_mean) > 0.05
    assert found.itl_p95 == pytest.approx(step + posting, rel=1e-3)
    more = Disaggregated(one, one, 4, 8, HandOver(0.003, posting, 0.0, 0.0, 0.0)).latency(ALIKE, rate)
    assert more.itl_p95 < more.itl_mean < found.itl_p95


def test_apart_the_tail_is_of_long_prompts_postings_where_lengths_vary() -> None:
    one, posting, rate, unlike = engine(), 0.02, 12.0, Requests(2000, 0, 200, 1.0)
    hand_over = HandOver(0.003, posting, 0.0, 0.0, 0.0)
    found = Disaggregated(one, one, 4, 1, hand_over).latency(unlike, rate)
    step = found.itl_mean * (1 - rate * posting)
    beyond = 0.05 / (1 - exp(-rate * found.itl_mean))  # this share of the postings is in the tail
    spread = sqrt(log(2))
    factor = exp(NormalDist().inv_cdf(1 - beyond) * spread - spread**2 / 2)
    assert 1 < factor < 1.3
    assert found.itl_p95 == pytest.approx(step + factor * posting, rel=0.1)


def test_apart_few_postings_of_very_unequal_prompts_are_no_sum_of_several() -> None:
    one, posting, rate, unlike = engine(), 0.05, 5.0, Requests(2000, 0, 200, 2.0)
    found = Disaggregated(one, one, 4, 1, HandOver(0.003, posting, 0.0, 0.0, 0.0)).latency(unlike, rate)
    step = found.itl_mean * (1 - rate * posting)
    assert 0.05 < rate * found.itl_mean < 0.07  # a step in twenty has one, and hardly any has two
    # Nearly all steps with a posting are in the tail, which so begins with the shortest: the normal sum would be 0.9.
    assert step < found.itl_p95 < step + 0.2 * posting


def test_apart_a_step_stands_still_for_all_that_came_since_the_last() -> None:
    one, posting, rate, short = engine(), 0.004, 200.0, Requests(10, 0, 20, 0.0)
    found = Disaggregated(one, one, 20, 1, HandOver(0.003, posting, 0.0, 0.0, 0.0)).latency(short, rate)
    came = rate * found.itl_mean
    assert came > 5
    drawn = [exp(-came)]
    while sum(drawn) < 0.95:
        drawn.append(drawn[-1] * came / len(drawn))
    step = found.itl_mean * (1 - rate * posting)
    assert found.itl_p95 == pytest.approx(step + (len(drawn) - 1) * posting, rel=0.08)


def test_apart_a_long_prompt_hands_over_as_much_as_is_known_of_its_length() -> None:
    # Half of what a mean prompt reads are states, which do not grow; its window is full at half its length.
    one, unlike, rate = engine(), Requests(2000, 0, 200, 1.0), 2.0
    factors = sorted({each.factor for each in unlike.lengths} | {unlike.quantile(0.5), unlike.quantile(0.95)})
    lengths = tuple(Handed(each, reads=0.5 + 0.5 * each, bytes=0.5 + min(0.5, each)) for each in factors)
    hand_over = HandOver(0.003, 0.01, 0.1, 0.1, 0.1, lengths)
    served = Disaggregated(one, one, 1, 1, hand_over)
    mean = sum(each.share * min(0.5, each.factor) for each in unlike.lengths) + 0.5
    link, posting = rate * mean * 0.1, rate * 0.01  # of reads the mean is that of the mean prompt
    assert served.utilizations(unlike, rate)["link"] == pytest.approx(link)
    long = unlike.quantile(0.95)
    transfer = 0.003 + (0.5 + 0.5 * long) * 0.01 / (1 - posting) + 0.1 / (1 - link)
    assert served.hand_over_seconds(unlike, rate, long) == pytest.approx(transfer)
    average = 0.003 + 0.01 / (1 - posting) + mean * 0.1 / (1 - link)
    assert served.mean_hand_over_seconds(unlike, rate) == pytest.approx(average)
    in_proportion = replace(served, hand_over=replace(hand_over, lengths=()))
    assert served.latency(unlike, rate).ttft_p95 < in_proportion.latency(unlike, rate).ttft_p95 - 0.1


def test_between_two_known_lengths_what_is_handed_over_is_on_a_straight_line() -> None:
    known = (Handed(1.0, 1.0, 1.0), Handed(3.0, 2.0, 5.0))
    assert handed_of(known, 1.5) == Handed(1.5, 1.25, 2.0)
    assert [handed_of(known, factor) for factor in (0.5, 1.0, 3.0, 4.0)] == [known[0], known[0], known[1], known[1]]
    assert handed_of((), 2.0) == Handed(2.0, 2.0, 2.0)


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


def unequal(tokens: float, variation: float) -> list[float]:
    """Return prompts' lengths that stand evenly for all of them."""
    spread = sqrt(log(1 + variation**2))
    shares = ((number + 0.5) / 2000 for number in range(2000))
    return [tokens * exp(spread * NormalDist().inv_cdf(share) - spread**2 / 2) for share in shares]


def pollaczek_khinchine(rate: float, times: list[float]) -> Waiting:
    """Return the wait before one server, from the first two moments of its times."""
    mean, square = (sum(time**power for time in times) / len(times) for power in (1, 2))
    busy = rate * mean
    return Waiting(busy, rate * square / (2 * (1 - busy)))


def test_apart_long_prompts_take_more_than_in_proportion_and_hand_over_more() -> None:
    # Attention is quadratic, and half of these prompts' arithmetic.
    one, rate, requests = engine(), 0.3, Requests(30_000, 0, 200, 0.8)
    hand_over = HandOver(0.003, 0.01, 0.2, 0.2, 0.2)
    found = Disaggregated(one, one, 1, 1, hand_over).latency(requests, rate)
    queue = pollaczek_khinchine(rate, [one.prompt_share_seconds(tokens) for tokens in unequal(30_000, 0.8)])
    fixed = (one.speed.request_ms + one.speed.hop_ms) / 1000 + found.itl_mean
    spread = sqrt(log(1 + 0.8**2))
    for share, seconds in ((0.5, found.ttft_p50), (0.95, found.ttft_p95)):
        factor = exp(NormalDist().inv_cdf(share) * spread - spread**2 / 2)
        transfer = 0.003 + factor * (0.01 / (1 - rate * 0.01) + 0.2 / (1 - rate * 0.2))
        prompt = one.prompt_seconds(factor * 30_000)
        expected = fixed + queue.quantile(share) + prompt + transfer
        assert seconds == pytest.approx(expected, rel=0.02)
    assert prompt > 1.2 * factor * one.prompt_seconds(30_000)
    alone = [one.prompt_seconds(tokens) for tokens in unequal(30_000, 0.8)]
    transfer = 0.003 + 0.01 / (1 - rate * 0.01) + 0.2 / (1 - rate * 0.2)
    expected = fixed + queue.mean + sum(alone) / len(alone) + transfer
    assert found.ttft_mean == pytest.approx(expected, rel=0.02)


def test_together_long_prompts_take_more_than_in_proportion() -> None:
    one, rate, requests = engine(), 0.3, Requests(30_000, 0, 200, 0.8)
    found = Aggregated(one, 1).latency(requests, rate)
    busy = {"sequences": max(1.0, rate * 200 * found.itl_mean), "context_tokens": 30_100.0}
    queue = pollaczek_khinchine(rate, [one.prompt_share_seconds(tokens, **busy) for tokens in unequal(30_000, 0.8)])
    fixed = one.speed.request_ms / 1000 + one.step_seconds(**busy) / 2
    spread = sqrt(log(1 + 0.8**2))
    for share, seconds in ((0.5, found.ttft_p50), (0.95, found.ttft_p95)):
        factor = exp(NormalDist().inv_cdf(share) * spread - spread**2 / 2)
        expected = fixed + queue.quantile(share) + one.prompt_seconds(factor * 30_000, **busy)
        assert seconds == pytest.approx(expected, rel=0.02)
    alone = [one.prompt_seconds(tokens, **busy) for tokens in unequal(30_000, 0.8)]
    assert found.ttft_mean == pytest.approx(fixed + queue.mean + sum(alone) / len(alone), rel=0.02)


def test_the_wait_is_of_the_times_variation_and_not_of_the_lengths() -> None:
    # Short prompts take almost as long as each other, long ones far from it.
    one = engine()
    for tokens in (100, 20_000):
        requests = Requests(tokens, 0, 1, 1.0)
        rate = 0.7 / Disaggregated(one, one, 1, 1, NO_HAND_OVER).utilizations(requests, 1.0)["prefill"]
        times = [one.prompt_share_seconds(each) for each in unequal(tokens, 1.0)]
        assert rate * sum(times) / len(times) == pytest.approx(0.7, rel=0.02)
    found = Disaggregated(one, one, 1, 1, NO_HAND_OVER).latency(requests, rate)
    mean = sum(times) / len(times)
    variation = sqrt(sum(time**2 for time in times) / len(times) / mean**2 - 1)
    assert variation > 1.2
    by_lengths = waiting(rate, mean, 1, 1.0).mean
    exact = waiting(rate, mean, 1, variation).mean
    prompts = [one.prompt_seconds(each) for each in unequal(tokens, 1.0)]
    fixed = (one.speed.request_ms + one.speed.hop_ms) / 1000 + found.itl_mean
    wait = found.ttft_mean - fixed - sum(prompts) / len(prompts)
    assert wait == pytest.approx(exact, rel=0.08)
    assert wait > 1.2 * by_lengths


def test_lengths_are_cut_at_the_context_both_ways() -> None:
    one, requests = engine(), Requests(4000, 0, 200, 1.0)
    for served in (Disaggregated(one, one, 1, 1, NO_HAND_OVER), Aggregated(one, 1)):
        cut, uncut = served.latency(requests.within(8192), 1e-3), served.latency(requests, 1e-3)
        assert cut.ttft_p50 == pytest.approx(uncut.ttft_p50, rel=1e-3)
        assert cut.ttft_p95 < 0.9 * uncut.ttft_p95
        longest = served.latency(Requests(7992, 0, 200, 0.0), 1e-3).ttft_p95
        assert cut.ttft_p95 == pytest.approx(longest, rel=0.01)
        assert full_rate(served, requests.within(8192)) > full_rate(served, requests)


def test_apart_every_engine_and_the_busier_links_count() -> None:
    one, rate = engine(), 6.0
    served = Disaggregated(one, one, 3, 2, HandOver(0.003, 0.05, 0.04, 0.1, 0.08))
    busy = served.utilizations(ALIKE, rate)
    assert busy["prefill"] == pytest.approx(rate * one.prompt_share_seconds(2000) / 3)
    posting, link = rate / 2 * 0.05, rate * max(0.1 / 3, 0.08 / 2)
    assert busy["link"] == link == pytest.approx(0.24)
    full = one.step_seconds(sequences=256, context_tokens=2100) / (1 - posting)
    assert busy["decode"] == pytest.approx(rate * full * 200 / 512)
    found = served.latency(ALIKE, rate)
    step = one.step_seconds(sequences=rate / 2 * 200 * found.itl_mean, context_tokens=2100)
    assert found.itl_mean == pytest.approx(step / (1 - posting), rel=1e-3)
    transfer = served.hand_over_seconds(ALIKE, rate, 1.0)
    assert transfer == pytest.approx(0.003 + 0.05 / (1 - posting) + 0.04 / (1 - link))


def test_apart_what_is_cut_is_not_handed_over() -> None:
    one, rate, cut = engine(), 1.0, Requests(4000, 0, 200, 2.0).within(4200)
    served = Disaggregated(one, one, 1, 1, HandOver(0.0, 0.1, 0.4, 0.4, 0.4))
    assert cut.mean_factor < 0.6
    busy = rate * cut.mean_factor
    expected = 0.5 * (0.1 / (1 - busy * 0.1) + 0.4 / (1 - busy * 0.4))
    assert served.hand_over_seconds(cut, rate, 0.5) == pytest.approx(expected)
    assert served.utilizations(cut, rate)["link"] == pytest.approx(busy * 0.4)


def test_a_cached_prefix_is_looked_at_by_every_token_both_ways() -> None:
    one, cached = engine(), Requests(4000, 40_000, 200, 0.0)
    apart = Disaggregated(one, one, 1, 1, NO_HAND_OVER)
    share = one.prompt_share_seconds(4000, tokens_before=40_000)
    assert apart.utilizations(cached, 0.1)["prefill"] == pytest.approx(0.1 * share)
    found = apart.latency(cached, 1e-6)
    fixed = (one.speed.request_ms + one.speed.hop_ms) / 1000 + found.itl_mean
    assert found.ttft_p95 == pytest.approx(fixed + one.prompt_seconds(4000, tokens_before=40_000))
    together = Aggregated(one, 1).latency(cached, 1e-6)
    busy = {"sequences": 1.0, "context_tokens": 44_100.0}
    alone = one.prompt_seconds(4000, tokens_before=40_000, **busy) + one.step_seconds(**busy) / 2
    assert together.ttft_p95 == pytest.approx(one.speed.request_ms / 1000 + alone)


def test_together_a_long_prompts_whole_steps_look_back_half_way_on_average() -> None:
    small, requests, rate = replace(engine(sequences=8), step_tokens=2048), Requests(40_000, 0, 20, 0.0), 0.3
    found = Aggregated(small, 1).latency(requests, rate)
    busy = {"sequences": max(1.0, rate * 20 * found.itl_mean), "context_tokens": 40_010.0}
    room = 2048 - busy["sequences"]
    whole = int(40_000 // room)
    assert found.itl_p95 == pytest.approx(
        small.step_seconds(prompt_tokens=room, tokens_before=(whole - 1) * room / 2, **busy), rel=1e-3
    )


def test_the_tail_between_tokens_is_no_less_than_the_mean() -> None:
    # Prompts of few tokens ride along in many steps, none of which is much longer than another.
    found = Aggregated(engine(), 1).latency(Requests(300, 0, 10, 0.0), 80.0)
    busy = {"sequences": 80 * 10 * found.itl_mean, "context_tokens": 305.0}
    assert engine().step_seconds(prompt_tokens=300, **busy) < found.itl_p95 == found.itl_mean


def test_together_answers_leave_prompts_less_of_a_step() -> None:
    small = replace(engine(), step_tokens=512)
    idle, busy = (small.prompt_seconds(2048, sequences=number, context_tokens=100) for number in (0, 256))
    assert small.steps(2048) == 4
    assert small.steps(2048, 256) == 8
    assert busy > 1.5 * idle
    assert small.prompt_seconds(100, sequences=512, context_tokens=100) == inf
    assert Aggregated(replace(small, sequences=1024), 1).sequences == 256
    assert Aggregated(engine(sequences=64), 1).sequences == 64


def test_together_the_tail_is_of_the_steps_with_prompts_as_often_as_they_come() -> None:
    one, requests = engine(), Requests(4000, 0, 200, 0.0)
    for rate in (1.5, 2.5, 5.0):
        found = Aggregated(one, 1).latency(requests, rate)
        busy = {"sequences": max(1.0, rate * 200 * found.itl_mean), "context_tokens": 4100.0}
        with_prompt = one.step_seconds(prompt_tokens=4000, **busy)
        expected = with_prompt if rate * found.itl_mean > 0.05 else one.step_seconds(**busy)
        assert found.itl_p95 == pytest.approx(expected, rel=1e-3), rate
    assert with_prompt > 3 * found.itl_mean
    # Prompts of 12,000 tokens fill one step and a half. 4 % of the steps are full, 4 % half full: the tail is of those.
    rate = 1.5
    found = Aggregated(one, 1).latency(replace(requests, prompt_tokens=12_000), rate)
    assert 0.025 < rate * found.itl_mean < 0.05
    busy = {"sequences": max(1.0, rate * 200 * found.itl_mean), "context_tokens": 12_100.0}
    full = 8192 - busy["sequences"]
    rest = one.step_seconds(prompt_tokens=12_000 - full, tokens_before=full, **busy)
    assert found.itl_p95 == pytest.approx(rest, rel=1e-3)


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


def test_apart_requests_wait_for_a_place_where_all_are_taken() -> None:
    prefill, decode = engine(), engine(sequences=16)
    served = Disaggregated(prefill, decode, 8, 1, NO_HAND_OVER)
    rate = 0.97 * full_rate(served, ALIKE)
    found = served.latency(ALIKE, rate)
    full = decode.step_seconds(sequences=16, context_tokens=2100)
    place = waiting(rate, full * 200, 16, 1.0)
    queue = waiting(rate, prefill.prompt_share_seconds(2000), 8, 0.0)
    fixed = (prefill.speed.request_ms + decode.speed.hop_ms) / 1000 + prefill.prompt_seconds(2000) + found.itl_mean
    assert found.ttft_mean == pytest.approx(fixed + queue.mean + place.mean, rel=1e-6)
    for share, seconds in ((0.5, found.ttft_p50), (0.95, found.ttft_p95)):
        assert seconds == pytest.approx(fixed + queue.quantile(share) + place.quantile(share), rel=1e-6)
    assert place.quantile(0.5) > 0.3 * found.ttft_p50
    assert found.utilization == pytest.approx(rate * full * 200 / 16)


def test_together_requests_wait_for_a_place_where_all_are_taken() -> None:
    one = engine(sequences=4)
    served = Aggregated(one, 2)
    rate = 0.95 * full_rate(served, ALIKE)
    found = served.latency(ALIKE, rate)
    busy, most = ({"sequences": number, "context_tokens": 2100.0} for number in (rate / 2 * 200 * found.itl_mean, 4.0))
    alone = one.step_seconds(**most)
    added = one.prompt_share_seconds(2000, **most) - one.steps(2000, 4) * alone
    place = waiting(rate, alone / (1 - rate / 2 * added) * 200, 8, 1.0)
    queue = waiting(rate, one.prompt_share_seconds(2000, **busy), 2, 0.0)
    fixed = one.speed.request_ms / 1000 + one.step_seconds(**busy) / 2 + one.prompt_seconds(2000, **busy)
    assert found.ttft_mean == pytest.approx(fixed + queue.mean + place.mean, rel=1e-3)
    for share, seconds in ((0.5, found.ttft_p50), (0.95, found.ttft_p95)):
        assert seconds == pytest.approx(fixed + queue.quantile(share) + place.quantile(share), rel=1e-3)
    assert place.quantile(0.5) > 0.3 * found.ttft_p50


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


STRONG, WEAK = Aggregated(engine(), 1), Aggregated(engine("L40S 45776", "8.9"), 1)


def test_nodes_of_two_kinds_share_in_proportion_to_what_they_can() -> None:
    both = mixed((STRONG, WEAK), ALIKE, Targets(ttft_p95_seconds=10.0))
    rates = [full_rate(each, ALIKE) for each in (STRONG, WEAK)]
    assert rates[0] > 2 * rates[1]
    assert full_rate(both, ALIKE) == pytest.approx(sum(rates), rel=1e-3)
    shares = [rate / sum(rates) for rate in rates]
    load = 0.95 * sum(rates)
    found = Split((STRONG, WEAK), tuple(shares)).latency(ALIKE, load)
    parts = [each.latency(ALIKE, share * load) for each, share in zip((STRONG, WEAK), shares, strict=True)]
    assert found.ttft_p95 == max(part.ttft_p95 for part in parts)
    assert found.itl_p95 == max(part.itl_p95 for part in parts)
    assert parts[0].itl_mean < found.itl_mean < parts[1].itl_mean
    assert both.latency(ALIKE, 2 * sum(rates)).is_saturated
    assert isfinite(both.latency(ALIKE, 2 * sum(rates)).utilization)


def test_each_of_two_kinds_serves_what_it_can_within_the_targets() -> None:
    targets = Targets(ttft_p95_seconds=0.5, itl_seconds=0.04)
    both, rates = mixed((STRONG, WEAK), ALIKE, targets), [most_rate(each, ALIKE, targets) for each in (STRONG, WEAK)]
    assert min(rates) > 0
    assert most_rate(both, ALIKE, targets) == pytest.approx(sum(rates), rel=1e-3)


def test_nodes_that_hold_the_others_up_stand_idle() -> None:
    alone = STRONG.latency(ALIKE, 1.0)
    targets = Targets(itl_p95_seconds=2 * alone.itl_p95)
    assert most_rate(WEAK, ALIKE, targets) == 0
    both = mixed((STRONG, WEAK), ALIKE, targets)
    assert both.latency(ALIKE, 1.0) == alone
    assert most_rate(STRONG, ALIKE, targets) > 1
    assert most_rate(both, ALIKE, targets) == pytest.approx(most_rate(STRONG, ALIKE, targets), rel=1e-3)
    without = mixed((STRONG, WEAK), ALIKE, Targets())
    assert without.latency(ALIKE, 1.0) == alone
    busy = 1.1 * full_rate(STRONG, ALIKE)
    assert not without.latency(ALIKE, busy).is_saturated, "all serve where one kind cannot alone"
    assert not both.latency(ALIKE, busy).is_saturated
