"""Every instance row against EC2's own description of the type, as moto carries it."""

from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.network import network_interfaces
from support.ec2 import described

ROWS = load_catalog().instances

# Where the two differ, and why: field by field, catalogue first.
KNOWN_DIFFERENCES = {
    # Karpenter's table has the baseline of this type, EC2's text the peak.
    ("g7.8xlarge", "bandwidth_gbps"): (80, 100),
    # NVIDIA's name without EC2's "Server".
    ("g7e.8xlarge", "gpu"): ("RTX PRO 6000", "RTX PRO Server 6000"),
    ("g7e.12xlarge", "gpu"): ("RTX PRO 6000", "RTX PRO Server 6000"),
    ("g7e.24xlarge", "gpu"): ("RTX PRO 6000", "RTX PRO Server 6000"),
    ("g7e.48xlarge", "gpu"): ("RTX PRO 6000", "RTX PRO Server 6000"),
}


def of_ec2(name: str) -> dict[str, Any]:
    ec2 = described()[name]
    (gpu,) = ec2["GpuInfo"]["Gpus"]
    network = ec2["NetworkInfo"]
    count, _, gigabit = network["NetworkPerformance"].removesuffix(" Gigabit").rpartition("x ")
    efa_cards = [card["NetworkCardIndex"] for card in network["NetworkCards"] if "efa" in card["InterfaceTypes"]]
    return {
        "gpu": gpu["Name"],
        "gpu_count": gpu["Count"],
        "gpu_memory_mib": gpu["MemoryInfo"]["SizeInMiB"],
        "vcpus": ec2["VCpuInfo"]["DefaultVCpus"],
        "memory_mib": ec2["MemoryInfo"]["SizeInMiB"],
        "efa_interfaces": network["EfaInfo"]["MaximumEfaInterfaces"],
        "network_cards": network["MaximumNetworkCards"],
        "first_efa_card": min(efa_cards),
        "bandwidth_gbps": int(count or 1) * int(gigabit),
        "architectures": ec2["ProcessorInfo"]["SupportedArchitectures"],
        "capacity_blocks": "capacity-block" in ec2["SupportedUsageClasses"],
        "placement_group": "cluster" in ec2["PlacementGroupInfo"]["SupportedStrategies"],
    }


def of_the_catalogue(name: str) -> dict[str, Any]:
    row = ROWS[name]
    return {
        "gpu": row.gpu.name,
        "gpu_count": row.gpu.count,
        "gpu_memory_mib": row.gpu.memory_mib,
        "vcpus": row.vcpus,
        "memory_mib": row.memory_mib,
        "efa_interfaces": row.efa.interfaces,
        "network_cards": row.efa.network_cards,
        "first_efa_card": row.efa.first_efa_card,
        "bandwidth_gbps": row.efa.bandwidth_gbps,
        "architectures": ["x86_64"],
        "capacity_blocks": row.capacity_blocks,
        "placement_group": True,  # on-demand nodes of every type stand in one
    }


def test_the_differences_are_the_known_ones() -> None:
    found = {
        (name, field): (ours, theirs)
        for name in ROWS
        for (field, ours), theirs in zip(of_the_catalogue(name).items(), of_ec2(name).values(), strict=True)
        if ours != theirs
    }
    assert found == KNOWN_DIFFERENCES


def test_no_type_with_efa_and_nvidia_gpus_is_missing_without_a_reason() -> None:
    catalog = load_catalog()
    with_efa = {
        name
        for name, ec2 in described().items()
        if ec2["NetworkInfo"].get("EfaSupported")
        and any(gpu["Manufacturer"] == "NVIDIA" for gpu in ec2.get("GpuInfo", {}).get("Gpus", []))
    }
    missing = with_efa - set(ROWS)
    assert {name for name in missing if catalog.unsuitable(name) is None} == set()


@pytest.mark.parametrize("name", ROWS)
def test_each_interface_stands_on_a_card_that_takes_its_kind(name: str) -> None:
    cards = {card["NetworkCardIndex"]: card for card in described()[name]["NetworkInfo"]["NetworkCards"]}
    interfaces = network_interfaces(ROWS[name].efa)
    assert len({(interface.network_card, interface.device) for interface in interfaces}) == len(interfaces)
    for interface in interfaces:
        card = cards[interface.network_card]
        assert interface.kind in card["InterfaceTypes"]
        assert interface.device < card["MaximumNetworkInterfaces"]
    assert sum("efa" in interface.kind for interface in interfaces) == ROWS[name].efa.interfaces
    assert (interfaces[0].network_card, interfaces[0].device) == (0, 0)
    assert interfaces[0].kind != "efa-only"
