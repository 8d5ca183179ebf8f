"""Which way a KV cache takes, and what a pair of engines gets on it."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.facts import Facts, gather
from constructs_pd.planning.transfer_paths import (
    FALL_BACKS,
    engine_gbps,
    is_capped,
    limit_gbps,
    pair_gbps,
    planned_path,
)
from support.specs import FOUR_GPU_ROW, changed, reserved, spec_with

PATHS = load_catalog().transfer_paths


def facts_of(prefill: str, decode: str, changes: dict[str, Any] | None = None) -> Facts:
    both = {"prefill.instance_type": prefill, "decode.instance_type": decode, "model.source": "Qwen/Qwen3-8B"}
    return gather(spec_with({**both, **(changes or {})}), load_catalog())


@pytest.mark.parametrize(
    ("prefill", "decode", "path"),
    [
        ("p5.48xlarge", "p5en.48xlarge", "efa_gpudirect"),
        ("g6.8xlarge", "g6.8xlarge", "efa_staged"),
        ("g6.8xlarge", "p5.48xlarge", "efa_staged"),
        ("p5.48xlarge", "g6.8xlarge", "efa_staged"),
        ("g7e.8xlarge", "g7e.8xlarge", "efa_staged"),  # nobody says
    ],
)
def test_the_quick_way_needs_gpudirect_at_both_ends(prefill: str, decode: str, path: str) -> None:
    planned = planned_path(facts_of(prefill, decode))
    assert planned is not None
    assert planned.path == path


def test_the_quick_way_needs_reads_in_hardware() -> None:
    row = changed(FOUR_GPU_ROW, {"gpu.gpudirect_rdma": True})
    for rdma_read, path in ((None, "efa_staged"), (False, "efa_staged"), (True, "efa_gpudirect")):
        own = {"custom_instances": [changed(row, {"efa.rdma_read": rdma_read})]}
        planned = planned_path(facts_of("g6.12xlarge", "p5.48xlarge", own))
        assert planned is not None
        assert planned.path == path


def test_there_is_no_path_between_unknown_instances() -> None:
    facts = facts_of("x", "p5.48xlarge")
    assert planned_path(facts) is None
    assert pair_gbps(facts, PATHS["tcp"]) == limit_gbps(facts.prefill, PATHS["tcp"]) == 0


@pytest.mark.parametrize(
    ("instance", "gpus", "gbps"),
    [
        ("p5.48xlarge", 8, 3200),
        ("p5.48xlarge", 1, 400),  # 4 of 32 interfaces
        ("p4d.24xlarge", 1, 100),  # 1 of 4, which two GPUs share
        ("p4d.24xlarge", 4, 200),
        ("p6-b300.48xlarge", 1, 800),  # 2 of 16
        ("p5.4xlarge", 1, 100),
    ],
)
def test_an_engine_has_the_interfaces_beside_its_gpus(instance: str, gpus: int, gbps: float) -> None:
    facts = facts_of(instance, instance, {"prefill.tensor_parallel": gpus, "decode.tensor_parallel": gpus})
    assert pair_gbps(facts, PATHS["efa_gpudirect"]) == pytest.approx(gbps * 0.74)


def test_engines_of_a_node_with_one_interface_have_it_whole() -> None:
    facts = facts_of("g6.48xlarge", "g6.48xlarge", {"prefill.tensor_parallel": 1, "decode.tensor_parallel": 1})
    assert pair_gbps(facts, PATHS["efa_staged"]) == 24  # not 50, half of 100


def test_the_slower_end_decides() -> None:
    facts = facts_of("g6.8xlarge", "g6.12xlarge")
    slow, quick = (engine_gbps(facts, phase, PATHS["efa_staged"]) for phase in facts.phases)
    assert (slow, quick) == (12.5, 20)
    assert pair_gbps(facts, PATHS["efa_staged"]) == 12.5


@pytest.mark.parametrize(
    ("changes", "each"),
    [
        ({}, 10),
        ({"nodes.placement_group": "none"}, 5),
        ({**reserved("prefill", placement_group="one"), **reserved("decode", placement_group="one")}, 10),
        ({**reserved("prefill", placement_group="one"), **reserved("decode", placement_group="two")}, 5),
        ({**reserved("prefill"), **reserved("decode")}, 5),
        (reserved("prefill", placement_group="one"), 5),
    ],
)
def test_a_connection_over_tcp_is_quicker_within_one_placement_group(changes: dict[str, Any], each: float) -> None:
    facts = facts_of("p5en.48xlarge", "p5en.48xlarge", {**changes, "decode.tensor_parallel": 2})
    assert pair_gbps(facts, PATHS["tcp_limit"]) == 2 * each


def test_tcp_has_the_first_card_only_and_a_connection_for_each_gpu_of_decode() -> None:
    facts = facts_of("g6.8xlarge", "g6.8xlarge")
    assert pair_gbps(facts, PATHS["tcp_limit"]) == 10
    facts = facts_of("p5.48xlarge", "p5.48xlarge")
    assert pair_gbps(facts, PATHS["tcp"]) == pytest.approx(8 * 2.6)


def test_tcp_crosses_host_memory_too() -> None:
    facts = facts_of("p5.48xlarge", "p5.48xlarge")
    assert pair_gbps(facts, PATHS["tcp_limit"]) == PATHS["efa_staged"].engine_gbps == 24  # not 50, nor 8 x 10
    assert all(PATHS[name].engine_gbps == 24 for name in FALL_BACKS)


def test_no_pair_is_quicker_over_tcp_than_as_planned() -> None:
    instances = load_catalog().instances
    for prefill, decode in product(instances, repeat=2):
        for sizes in product((1, instances[prefill].gpu.count), (1, instances[decode].gpu.count)):
            tensor_parallel = dict(zip(("prefill.tensor_parallel", "decode.tensor_parallel"), sizes, strict=True))
            facts = facts_of(prefill, decode, tensor_parallel)
            planned = planned_path(facts)
            assert planned is not None
            rates = [pair_gbps(facts, PATHS[name]) for name in FALL_BACKS]
            assert all(0 < rate <= pair_gbps(facts, planned) for rate in rates), (prefill, decode, sizes)


@pytest.mark.parametrize(
    ("prefill", "decode", "capped"),
    [
        ("g6.8xlarge", "g6.8xlarge", False),  # 12.5 of 25
        ("g6e.48xlarge", "g6e.48xlarge", True),
        ("g6.8xlarge", "g6e.48xlarge", False),
        ("g6e.48xlarge", "p5.48xlarge", True),
        ("p5.48xlarge", "p5.48xlarge", False),
    ],
)
def test_quicker_links_change_nothing_where_host_memory_is_the_limit(prefill: str, decode: str, capped: bool) -> None:
    facts = facts_of(prefill, decode)
    planned = planned_path(facts)
    assert planned is not None
    assert is_capped(facts, planned) is capped


def test_gpudirect_is_quicker_than_staging_and_staging_than_tcp() -> None:
    for instance in load_catalog().instances:
        for gpus in (1, load_catalog().instances[instance].gpu.count):
            alike = {"prefill.tensor_parallel": gpus, "decode.tensor_parallel": gpus}
            facts = facts_of(instance, instance, alike)
            direct, staged, bound, measured = (pair_gbps(facts, PATHS[name]) for name in PATHS)
            assert direct > staged > measured, instance
            assert bound >= measured
            planned, phase = planned_path(facts), facts.prefill
            assert planned is not None
            assert limit_gbps(phase, planned) > engine_gbps(facts, phase, planned)
