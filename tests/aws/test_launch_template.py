"""Disk and metadata service of a node."""

from __future__ import annotations

from typing import Any

import pytest

from support.specs import VARIANTS, plan_with
from support.template import launch_template, synthesized


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_imds_asks_for_a_token_and_answers_pods(changes: dict[str, Any], phase: str) -> None:
    assert launch_template(synthesized(plan_with(changes)), phase)["MetadataOptions"] == {
        "HttpEndpoint": "enabled",
        "HttpTokens": "required",
        "HttpPutResponseHopLimit": 2,
    }


def ebs(changes: dict[str, Any], phase: str = "decode") -> dict[str, Any]:
    (device,) = launch_template(synthesized(plan_with(changes)), phase)["BlockDeviceMappings"]
    assert device["DeviceName"] == "/dev/xvda"
    volume: dict[str, Any] = device["Ebs"]
    return volume


def test_the_root_volume_is_encrypted_and_goes_with_its_node() -> None:
    assert ebs({}) == {
        "VolumeType": "gp3",
        "VolumeSize": 200,
        "Iops": 3000,
        "Throughput": 500,
        "Encrypted": True,
        "DeleteOnTermination": True,
    }


@pytest.mark.parametrize(
    ("changes", "size_gib"),
    [
        ({}, 200),
        ({"model_cache": None}, 200 + 23),  # 22,888 MiB of one L4
        ({"model_cache": None, "decode.instance_type": "g6.48xlarge", "decode.tensor_parallel": 1}, 200 + 179),
        ({"model_cache": None, "decode.root_volume_gib": 300}, 300),
        ({"decode.root_volume_gib": 100}, 100),
    ],
)
def test_it_has_room_for_the_weights_where_no_shared_volume_takes_them(changes: dict[str, Any], size_gib: int) -> None:
    assert ebs(changes)["VolumeSize"] == size_gib


def test_each_phase_has_a_disk_of_its_own_size() -> None:
    changes = {"prefill.root_volume_gib": 500}
    assert (ebs(changes, "prefill")["VolumeSize"], ebs(changes, "decode")["VolumeSize"]) == (500, 200)
