"""The raylets are the pods of the rendered cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from constructs_pd.manifests.ray_cluster import ray_cluster_spec
from constructs_pd.rehearsal.local_ray import ray_start, resources_text
from constructs_pd.rehearsal.nodes import PlannedNode, planned_nodes
from support.ray_nodes import ray_nodes
from support.specs import plan_with

SEVERAL = {"prefill.replicas": 2, "decode.replicas": 3, "decode.pod.environment": {"A": "1"}}


@pytest.fixture(scope="module")
def nodes() -> tuple[PlannedNode, ...]:
    return planned_nodes(plan_with(SEVERAL))


def test_they_offer_what_the_reader_of_the_manifest_reads(nodes: tuple[PlannedNode, ...]) -> None:
    def offered(node: PlannedNode) -> dict[str, float]:
        custom = {name: amount for name, amount in node.resources.items() if not name.startswith("accelerator_type")}
        return {"CPU": node.cpus, "GPU": node.gpus, **custom}

    expected = [(node.group, node.free) for node in ray_nodes(ray_cluster_spec(plan_with(SEVERAL)))]
    assert [(node.group, offered(node)) for node in nodes] == expected
    assert [node.name for node in nodes] == ["head", "prefill-0", "prefill-1", "decode-0", "decode-1", "decode-2"]


def test_a_worker_offers_the_kind_of_its_gpu(nodes: tuple[PlannedNode, ...]) -> None:
    head, prefill, *_ = nodes
    assert (head.is_head, head.resources) == (True, {})
    assert prefill.resources == {"accelerator_type:L4": 1, "pd-prefill": 1}
    assert resources_text(prefill) == "CPU 29, GPU 1, accelerator_type:L4 1, pd-prefill 1"
    assert resources_text(head) == "nothing"


def test_the_environment_is_the_pods_on_the_loopback_address(nodes: tuple[PlannedNode, ...]) -> None:
    decode = nodes[-1].environment
    assert decode["A"] == "1"
    assert decode["VLLM_HOST_IP"] == decode["VLLM_NIXL_SIDE_CHANNEL_HOST"] == "127.0.0.1"
    assert decode["RAY_NODE_TYPE_NAME"] == "decode"
    assert "HF_TOKEN" not in decode


def test_the_command_names_only_the_loopback_address(nodes: tuple[PlannedNode, ...]) -> None:
    ports = {"metrics-export-port": 5}
    head_ports = {"port": 6, "dashboard-port": 7}
    head, worker = (ray_start(node, ports, head_ports, Path("/tmp/pd-1")) for node in nodes[:2])
    assert {"--head", "--dashboard-host=127.0.0.1", "--port=6", "--num-cpus=0"} <= set(head)
    assert {"--address=127.0.0.1:6", "--node-ip-address=127.0.0.1", "--metrics-export-port=5"} <= set(worker)
    assert '--resources={"accelerator_type:L4": 1.0, "pd-prefill": 1.0}' in worker
    assert "--head" not in worker


def test_labels_of_a_group_reach_its_nodes(nodes: tuple[PlannedNode, ...]) -> None:
    labelled = PlannedNode("a-0", "a", 1, 0, 1, {}, {"zone": "b", "role": "a"}, {})
    command = ray_start(labelled, {}, {"port": 6}, Path("/tmp/pd-1"))
    assert "--labels=role=a,zone=b" in command
