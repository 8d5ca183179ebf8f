"""The budget of the hand-over, computed by hand for each kind of model, and held to published measurements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from constructs_pd import DeploymentPlan
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.facts import gather
from constructs_pd.planning.hand_over import transfer_time
from constructs_pd.planning.hand_over_plan import HandOverPlan
from constructs_pd.planning.hand_over_size import HandOverSize, hand_over_size
from support.specs import MODEL_ROW, ROOT, plan_with, spec_with

PATHS = load_catalog().transfer_paths
P5 = {"prefill": {"instance_type": "p5.48xlarge"}, "decode": {"instance_type": "p5.48xlarge"}}


def size_of(model: str, tokens: int, gpus: int = 1, changes: dict[str, Any] | None = None) -> HandOverSize:
    phase = {"instance_type": "p6-b300.48xlarge", "tensor_parallel": gpus}
    base = {"model": {"source": model}, "prefill": phase, "decode": phase}
    size = hand_over_size(gather(spec_with({**base, **(changes or {})}), load_catalog()), tokens)
    assert size is not None
    return size


def hand_over(planned: DeploymentPlan) -> HandOverPlan:
    assert planned.hand_over is not None
    return planned.hand_over


def test_a_dense_model_hands_over_whole_blocks_of_every_layer() -> None:
    # Qwen3-8B: 36 layers, 8 key/value heads of 128, bfloat16; 1000 tokens are 63 blocks of 16.
    token = 36 * 8 * (128 + 128) * 2
    assert size_of("Qwen/Qwen3-8B", 1000) == HandOverSize(63 * 16 * token, 36 * 63)
    assert size_of("Qwen/Qwen3-8B", 1008).bytes == size_of("Qwen/Qwen3-8B", 1000).bytes
    assert size_of("Qwen/Qwen3-8B", 1009).bytes == 64 * 16 * token


def test_tensor_parallel_divides_heads_and_repeats_those_that_are_too_few() -> None:
    whole = size_of("Qwen/Qwen3-8B", 1024)
    assert size_of("Qwen/Qwen3-8B", 1024, 8).bytes == whole.bytes
    # Qwen3-30B-A3B has 4 key/value heads: 8 GPUs keep each of them twice, and read it twice.
    assert size_of("Qwen/Qwen3-30B-A3B", 1024, 8).bytes == 2 * size_of("Qwen/Qwen3-30B-A3B", 1024, 4).bytes


def test_the_size_is_decodes_where_the_phases_differ() -> None:
    narrow = {"prefill": {"instance_type": "p6-b300.48xlarge", "tensor_parallel": 4}}
    assert size_of("Qwen/Qwen3-30B-A3B", 1024, 8, narrow) == size_of("Qwen/Qwen3-30B-A3B", 1024, 8)


@pytest.mark.parametrize(("prefill", "share"), [(1, 0.33), (2, 0.66), (8, 2.64)])
def test_a_wider_prefill_is_read_gpu_by_gpu(prefill: int, share: float) -> None:
    # 20 a second x 36 layers x 188 blocks of 16 at 2.44 us are 0.33 of a GPU's time, for each of prefill's GPUs.
    changes = {
        "model": {"source": "Qwen/Qwen3-8B"},
        "prefill": {"instance_type": "p5.48xlarge", "tensor_parallel": prefill},
        "decode": {"instance_type": "p5.48xlarge", "tensor_parallel": 1},
        "traffic": {"requests_per_second": 20.0, "prompt_tokens": 3000},
    }
    found = hand_over(plan_with(changes)).sustained
    assert found is not None
    assert found.posting_share == pytest.approx(share, abs=0.005)
    assert found.utilization < 1
    assert (found.added_ttft_seconds is None) is (share > 1)
    assert ("time without end, it asks for 264% of the time" in found.added_ttft) is (share > 1)


def test_a_wider_decode_reads_a_part_of_one_gpu_and_a_latent_vector_is_read_of_one() -> None:
    def sized(model: str, prefill: int, decode: int) -> HandOverSize:
        narrow = {"prefill.tensor_parallel": prefill, "decode.tensor_parallel": decode}
        return size_of(model, 1024, changes=narrow)

    assert sized("Qwen/Qwen3-8B", 2, 8) == sized("Qwen/Qwen3-8B", 8, 8)
    four_to_two, same = sized("Qwen/Qwen3-8B", 4, 2), sized("Qwen/Qwen3-8B", 2, 2)
    assert four_to_two == HandOverSize(same.bytes, 2 * (same.descriptors or 0))
    latent = "deepseek-ai/DeepSeek-V3"
    assert sized(latent, 8, 4) == sized(latent, 4, 4)


def test_fp8_halves_it() -> None:
    half = size_of("Qwen/Qwen3-8B", 1024, changes={"model.kv_cache_dtype": "fp8"})
    assert half.bytes * 2 == size_of("Qwen/Qwen3-8B", 1024).bytes


def test_a_latent_vector_crosses_once_for_each_gpu() -> None:
    # DeepSeek-V3: 61 layers of 512 + 64, bfloat16, the same on each of 8 GPUs; blocks of 128 on a B300.
    assert size_of("deepseek-ai/DeepSeek-V3", 1024, 8) == HandOverSize(8 * 1024 * 61 * 576 * 2, 61 * 8)


def test_a_hybrid_model_hands_over_its_states_once() -> None:
    # Qwen3.5-9B: 8 layers of 4 heads of 256, in blocks as large as a state (528 tokens); 24 layers with states.
    state = 24 * (8192 * 3 * 2 + 32 * 128 * 128 * 4)
    token = 8 * 4 * (256 + 256) * 2
    for tokens, blocks in ((1, 1), (528, 1), (529, 2), (1024, 2)):
        expected = HandOverSize(blocks * 528 * token + state, 8 * blocks + 24 * 4)
        assert size_of("Qwen/Qwen3.5-9B", tokens) == expected


def test_layers_with_a_window_hand_over_the_window_and_a_block() -> None:
    # gpt-oss-20b: 12 layers that keep all, 12 that keep 128 tokens: 8 blocks of 16, and one for the overlap.
    layer_token = 8 * (64 + 64) * 2
    for tokens, in_window in ((100, 7), (128, 8), (144, 9), (4096, 9)):
        blocks = -(-tokens // 16)
        expected = HandOverSize(12 * 16 * layer_token * (blocks + in_window), 12 * (blocks + in_window))
        assert size_of("openai/gpt-oss-20b", tokens) == expected


def test_of_chunked_layers_nothing_is_left_out() -> None:
    model = "meta-llama/Llama-4-Scout-17B-16E-Instruct"
    assert size_of(model, 32_768, 8).bytes == 4 * size_of(model, 8192, 8).bytes


def test_sizes_by_hand_are_handed_over_as_they_stand_without_descriptors() -> None:
    row = {**MODEL_ROW, "sizes": {"weights_gib": 14.2, "kv_bytes_per_token": 1000, "state_bytes_per_request": 77}}
    own = {"custom_models": [row]}
    assert size_of("acme/own-7b", 17, changes=own) == HandOverSize(32 * 1000 + 77, None)
    served = {**own, "model": {"source": "acme/own-7b"}, **P5}
    plan = hand_over(plan_with({**served, "traffic": {"requests_per_second": 1.0, "prompt_tokens": 17}}))
    assert plan.sustained is not None
    assert plan.sustained.posting_share is None


def test_the_reference_deployment() -> None:
    plan = hand_over(plan_with())
    assert (plan.longest_tokens, plan.longest_bytes) == (1024, 86_114_304)
    assert [(way.path, way.gbps, round(way.longest_seconds, 3)) for way in plan.paths] == [
        ("efa_staged", 12.5, 0.058),
        ("tcp_limit", 10, 0.072),
        ("tcp", 2.6, 0.268),
    ]
    assert [way.is_planned for way in plan.paths] == [True, False, False]
    assert (plan.prompt_tokens, plan.prompt_bytes, plan.sustained) == (None, None, None)
    assert plan.over_tcp == (
        "without EFA no engine starts; over TCP the KV cache of 1,024 tokens would take 0.07 to 0.27 s in the place of "
        "0.06 s"
    )


def test_traffic_is_held_to_the_links() -> None:
    # 36 layers x 8 heads x 256 x 2 bytes x 4000 tokens = 589,824,000 bytes = 4.718592 Gbit.
    changes = {
        **P5,
        "model": {"source": "Qwen/Qwen3-8B"},
        "prefill.replicas": 2,
        "decode.replicas": 3,
        "traffic": {"requests_per_second": 100.0, "prompt_tokens": 4000},
    }
    plan = hand_over(plan_with(changes))
    assert (plan.prompt_tokens, plan.prompt_bytes) == (4000, 589_824_000)
    found = plan.sustained
    assert found is not None
    assert found.demand_gbps == pytest.approx(471.8592)
    assert (found.prefill_gbps, found.decode_gbps) == pytest.approx((2 * 2368, 3 * 2368))
    assert (found.prefill_limit_gbps, found.decode_limit_gbps) == pytest.approx((2 * 3072, 3 * 3072))
    assert found.utilization == pytest.approx(471.8592 / 4736)
    assert found.most_requests_per_second == pytest.approx(4736 / 4.718592)
    posting, wire = 36 * 250 * 2.44e-6, 4.718592 / 2368
    assert found.posting_share == pytest.approx(100 / 3 * posting)
    assert plan.paths[0].prompt_seconds == pytest.approx(0.003 + posting + wire)
    assert found.added_ttft_seconds == pytest.approx(
        0.003 + posting / (1 - 100 / 3 * posting) + wire / (1 - 471.8592 / 4736)
    )


def test_what_is_not_known_is_not_budgeted() -> None:
    unknown = {"model.source": "acme/own-7b", "custom_models": [MODEL_ROW], "model.max_model_len": 1024}
    traffic = {"traffic": {"requests_per_second": 1e6, "prompt_tokens": 1000}}
    planned = plan_with({**unknown, **traffic})
    assert planned.hand_over is None
    assert "PD225" in {finding.code for finding in planned.findings}


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ((5.85, 7.0, 15.0), "take 7.00 to 15.00 s in the place of 5.85 s"),
        ((5.85, 5.85, 15.0), "take 5.85 s as now, or up to 15.00 s"),
        ((5.85, 7.0, 7.0), "take 7.00 s in the place of 5.85 s"),
        ((4.09, 4.09, 4.09), "take as long, 4.09 s"),
    ],
)
def test_what_tcp_would_be_is_said_of_any_times(seconds: tuple[float, ...], said: str) -> None:
    plan = hand_over(plan_with())
    paths = tuple(
        way.model_copy(update={"longest_seconds": each}) for way, each in zip(plan.paths, seconds, strict=True)
    )
    assert plan.model_copy(update={"paths": paths}).over_tcp.endswith(f" tokens would {said}")


def gbytes(path: str, line_gbps: float) -> float:
    """Return what a path makes of a line rate, in GB/s."""
    row = PATHS[path]
    return min(line_gbps * row.efficiency, row.engine_gbps or line_gbps) / 8


def connections_gbytes(count: int) -> float:
    """Return what so many TCP connections reach in one placement group, in GB/s."""
    return count * (PATHS["tcp_limit"].group_flow_gbps or 0) / 8


def llama_seconds(path: str, gbps: float, tokens: int, descriptors: int | None) -> float:
    """Return the time of a prompt of Llama 3.1 8B: 131,072 bytes a token."""
    return transfer_time(HandOverSize(tokens * 131_072, descriptors), PATHS[path], gbps).alone


def tcp_less_efa_ms(size: int) -> float:
    """Return what TCP adds to the time to first token between two GPUs of p5.48xlarge."""
    over_tcp, over_efa = (
        transfer_time(HandOverSize(size, None), PATHS[path], gbps).alone
        for path, gbps in (("tcp", 2.6), ("efa_gpudirect", 296))
    )
    return (over_tcp - over_efa) * 1000


def posting_ms(descriptors: int) -> float:
    return transfer_time(HandOverSize(0, descriptors), PATHS["efa_gpudirect"], 1.0).posting * 1000


def llama_gbytes(descriptors: int) -> float:
    return 8000 * 131_072 / 1e9 / llama_seconds("efa_gpudirect", 296, 8000, descriptors)


@dataclass(frozen=True)
class Case:
    """A measurement of others.

    Attributes:
        published: What they say, with its unit.
        predicted: What the arithmetic makes of it, in that unit.
        bound: The largest error that is accepted, as a share of what is published.
    """

    published: str
    predicted: float
    bound: float


# What docs/hand_over.md says that the arithmetic makes of cases that others measured.
MEASURED = {
    "p5en.48xlarge to p5en.48xlarge, reads": Case("302 GB/s", gbytes("efa_gpudirect", 3200), 0.05),
    "p5.48xlarge to p5.48xlarge, reads": Case("382 GB/s", gbytes("efa_gpudirect", 3200), 0.25),
    "p6-b200.48xlarge to p6-b200.48xlarge, reads": Case("313 GB/s", gbytes("efa_gpudirect", 3200), 0.1),
    "p6-b300.48xlarge to p6-b300.48xlarge, reads": Case("697 GB/s", gbytes("efa_gpudirect", 6400), 0.2),
    "g6e with four interfaces, NCCL without GPUDirect": Case("3 GB/s", gbytes("efa_staged", 400), 0.01),
    # The cap is another instance type's, which errs on the safe side here.
    "p3dn.24xlarge, NCCL without GPUDirect": Case("10 GB/s", gbytes("efa_staged", 100), 0.75),
    "8 TCP connections in one placement group, from host memory": Case("9.5 GB/s", connections_gbytes(8), 0.1),
    # In vLLM of that day keys and values were descriptors of their own: 2 x 32 layers x 500 blocks.
    "Llama 8B, 8,000 tokens, vLLM over LIBFABRIC, 32,000 reads": Case("9.6 GB/s", llama_gbytes(32_000), 0.05),
    "the same as vLLM 0.26.0 posts it, 16,000 reads": Case("9.6 GB/s", llama_gbytes(16_000), 0.6),
    "Qwen3 0.6B, 512 tokens, TCP less EFA": Case("176 ms", tcp_less_efa_ms(512 * 114_688), 0.05),
    "Qwen2.5 7B, 512 tokens, TCP less EFA": Case("70 ms", tcp_less_efa_ms(512 * 57_344), 0.3),
    "Llama 8B, 5,000 tokens over TCP": Case("1.8 s", llama_seconds("tcp", 2.6, 5008, None), 0.15),
    # Not explained by bytes: the page says so.
    "Llama 8B, 8,000 tokens over TCP": Case("98 s", llama_seconds("tcp", 2.6, 8000, 32_000), 0.98),
    "posting 18,880 descriptors": Case("46 ms", posting_ms(18_880), 0.01),
    "posting 40,064 descriptors": Case("129 ms", posting_ms(40_064), 0.25),
    "posting 1,785 descriptors": Case("6.7 ms", posting_ms(1785), 0.4),
}


@pytest.mark.parametrize("name", MEASURED)
def test_measurements_are_met_within_their_bounds(name: str) -> None:
    case = MEASURED[name]
    measured = float(case.published.split()[0])
    assert abs(case.predicted / measured - 1) <= case.bound


def test_the_plan_posts_what_the_page_says_of_vllm_0_26() -> None:
    assert size_of("meta-llama/Meta-Llama-3.1-8B", 8000) == HandOverSize(8000 * 131_072, 16_000)


def test_the_page_says_how_well_measurements_are_met() -> None:
    page = (ROOT / "docs" / "hand_over.md").read_text(encoding="utf-8")
    head = "| case | published | predicted | error | accepted | source |\n| --- | --- | --- | --- | --- | --- |\n"
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.split(head)[1].split("\n\n")[0].splitlines()
    ]
    assert [row[0] for row in rows] == list(MEASURED)
    for name, published, predicted, error, accepted, source in rows:
        case = MEASURED[name]
        number, unit = case.published.split()
        assert published == case.published
        assert predicted == f"{case.predicted:.3g} {unit}", name
        assert error == f"{case.predicted / float(number) - 1:+.0%}".replace("%", " %"), name
        assert accepted == f"{case.bound:.0%}".replace("%", " %"), name
        assert len(source) > 10
