"""What a model asks of a GPU, and how long a step then takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.models import ModelFacts
from constructs_pd.planning.performance.roofline import Engine
from constructs_pd.planning.performance.work import Work, work_of

CATALOG = load_catalog()


def facts(model: str) -> ModelFacts:
    found = CATALOG.models[model].facts
    assert found is not None
    return found


def engine(model: str, gpu: str = "H100 81920", capability: str = "9.0", gpus: int = 1, tokens: int = 8192) -> Engine:
    work = work_of(facts(model), gpus, capability)
    return Engine(work, CATALOG.gpu_speed[gpu], CATALOG.engine_speed["0.26.0"], gpus, tokens, 256)


def flops(work: Work, *, answered: bool = True) -> float:
    return sum(part.flops for part in work.matrices if answered or not part.of_answers)


def test_a_token_costs_two_operations_for_each_weight_it_meets() -> None:
    llama = facts("meta-llama/Meta-Llama-3.1-8B")
    embedding = 128256 * 4096
    vectors = 65 * 4096
    assert flops(work_of(llama, 1, "9.0")) == 2 * (llama.parameters - embedding - vectors)
    assert flops(work_of(llama, 8, "9.0")) == pytest.approx(flops(work_of(llama, 1, "9.0")) / 8, rel=0.01)


def test_of_experts_a_token_meets_a_few_and_a_batch_reads_many() -> None:
    work = work_of(facts("Qwen/Qwen3-30B-A3B"), 1, "9.0")
    experts = next(part for part in work.matrices if part.touched < 1)
    assert experts.touched == 8 / 128
    assert experts.bytes_read(1) == pytest.approx(experts.bytes * 8 / 128)
    assert experts.bytes_read(64) > 0.95 * experts.bytes
    assert 2.8e9 < flops(work) / 2 < 3.3e9  # 3 billion are active


@pytest.mark.parametrize(
    ("model", "capability", "precision"),
    [
        ("nvidia/Llama-3.1-70B-Instruct-FP8", "9.0", "fp8"),
        ("nvidia/Llama-3.1-70B-Instruct-FP8", "8.0", "half"),
        ("openai/gpt-oss-120b", "9.0", "half"),
        ("openai/gpt-oss-120b", "10.0", "fp8"),
        ("openai/gpt-oss-120b", "12.0", "half"),
    ],
)
def test_weights_in_few_bits_are_multiplied_as_the_gpu_can(model: str, capability: str, precision: str) -> None:
    work = work_of(facts(model), 1, capability)
    largest = max(work.matrices, key=lambda part: part.bytes)
    assert largest.precision == precision


def test_latent_attention_costs_more_in_an_answer_than_in_a_prompt() -> None:
    (attention,) = work_of(facts("deepseek-ai/DeepSeek-V3"), 8, "9.0").attention
    assert attention.prompt_flops == 2 * 61 * 16 * (192 + 128)
    assert attention.answer_flops == 2 * 61 * 16 * (576 + 512)
    assert attention.bytes_per_token == 61 * 576 * 2


def test_a_window_is_all_that_is_looked_at() -> None:
    windowed, full = work_of(facts("openai/gpt-oss-120b"), 1, "9.0").attention
    assert (windowed.seen(100), windowed.seen(5000)) == (100, 128)
    assert full.seen(5000) == 5000


def test_tied_embeddings_are_multiplied_once() -> None:
    work = work_of(facts("Qwen/Qwen3-0.6B"), 1, "9.0")
    (head,) = [part for part in work.matrices if part.of_answers]
    assert head.flops == 2 * 151936 * 1024


def test_decoding_is_bound_by_memory_and_prompts_by_arithmetic() -> None:
    slow = engine("meta-llama/Meta-Llama-3.1-8B")
    wide = replace(slow, gpu=slow.gpu.model_copy(update={"memory_gigabytes_per_second": 6700.0}))
    quick = replace(slow, gpu=slow.gpu.model_copy(update={"half_tflops": 1978.0}))
    token = {"sequences": 8.0, "context_tokens": 500.0}
    assert wide.step_seconds(**token) < 0.7 * slow.step_seconds(**token)
    assert quick.step_seconds(**token) == pytest.approx(slow.step_seconds(**token), rel=0.01)
    assert quick.prompt_seconds(8000) < 0.6 * slow.prompt_seconds(8000)
    assert wide.prompt_seconds(8000) == pytest.approx(slow.prompt_seconds(8000), rel=0.01)


def test_a_long_prompt_takes_several_steps_and_short_ones_share_one() -> None:
    small = engine("meta-llama/Meta-Llama-3.1-8B", tokens=2048)
    assert [small.steps(tokens) for tokens in (1024, 2048, 3072, 8192)] == [0.5, 1, 1.5, 4]
    assert small.prompt_share_seconds(128) < 0.6 * small.prompt_seconds(128)
    assert small.prompt_share_seconds(4096) == small.prompt_seconds(4096)
    large = engine("meta-llama/Meta-Llama-3.1-8B", tokens=8192)
    assert small.prompt_seconds(8192) > large.prompt_seconds(8192)


def test_links_without_nvlink_are_paid_for() -> None:
    joined = engine("meta-llama/Meta-Llama-3.1-70B", "H100 81920", "9.0", 8)
    apart = replace(joined, gpu=joined.gpu.model_copy(update={"has_nvlink": False, "link_gigabytes_per_second": 32.0}))
    assert apart.prompt_seconds(4096) > 2 * joined.prompt_seconds(4096)
    assert apart.step_seconds(sequences=1, context_tokens=100) > joined.step_seconds(sequences=1, context_tokens=100)


def test_states_are_read_and_written() -> None:
    hybrid = engine("Qwen/Qwen3.5-9B")
    assert hybrid.work.state_bytes > 50e6
    assert hybrid.work.layers == 32
    one, many = (hybrid.step_seconds(sequences=number, context_tokens=1000) for number in (1, 129))
    assert many - one > 2 * 128 * hybrid.work.state_bytes / 3.35e12


def test_without_cuda_graphs_a_small_step_waits_for_the_cpu() -> None:
    graphs = engine("Qwen/Qwen3-8B")
    eager = replace(graphs, is_eager=True)
    token = {"sequences": 1.0, "context_tokens": 100.0}
    assert eager.step_seconds(**token) == pytest.approx(36 * 730e-6 + 1.5e-3 + 10e-6)
    assert graphs.step_seconds(**token) < 0.5 * eager.step_seconds(**token)
    assert eager.prompt_seconds(8000) == graphs.prompt_seconds(8000)
