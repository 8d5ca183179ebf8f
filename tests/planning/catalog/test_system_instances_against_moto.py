"""Every type for system nodes against EC2's own description of it, as moto carries it."""

from __future__ import annotations

import pytest

from constructs_pd.planning.catalog import load_catalog
from support.ec2 import described

ROWS = load_catalog().system_instances


@pytest.mark.parametrize("name", ROWS)
def test_a_row_says_what_ec2_says(name: str) -> None:
    ec2, row = described()[name], ROWS[name]
    assert row.vcpus == ec2["VCpuInfo"]["DefaultVCpus"]
    assert row.memory_mib == ec2["MemoryInfo"]["SizeInMiB"]


@pytest.mark.parametrize("name", ROWS)
def test_it_is_a_plain_x86_64_type(name: str) -> None:
    ec2 = described()[name]
    assert ec2["ProcessorInfo"]["SupportedArchitectures"] == ["x86_64"]
    assert "on-demand" in ec2["SupportedUsageClasses"]
    assert "GpuInfo" not in ec2
    assert not ec2["BurstablePerformanceSupported"]
