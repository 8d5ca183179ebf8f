from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from constructs_pd.manifests.adapter_check import FI_INFO, adapter_check
from constructs_pd.manifests.pods import head_template, worker_template
from support.specs import plan_with

P5 = {"prefill": {"instance_type": "p5.48xlarge"}, "decode": {"instance_type": "p5.48xlarge"}}


@pytest.mark.parametrize("changes", [{}, P5, {"privileged_workers": True}])
def test_it_has_the_workers_image_devices_and_rights(changes: dict[str, Any]) -> None:
    plan = plan_with(changes)
    for phase in plan.phases:
        spec = worker_template(plan, phase)["spec"]
        (check,), (worker,) = spec["initContainers"], spec["containers"]
        for part in ("image", "imagePullPolicy", "resources", "securityContext"):
            assert check[part] == worker[part]
        assert check["name"] != worker["name"]


def test_the_head_has_no_adapter_to_look_for() -> None:
    assert "initContainers" not in head_template(plan_with())["spec"]


def outcome(tmp_path: Path, program: str | None) -> tuple[int, str]:
    """Run the container's command with a program in the place of fi_info, or none there."""
    command = adapter_check()["command"]
    stand_in = tmp_path / "fi_info"
    if program is not None:
        stand_in.write_text(f"#!/bin/sh\n{program}\n")
        stand_in.chmod(0o755)
    done = subprocess.run(
        [*command[:-1], command[-1].replace(FI_INFO, str(stand_in))], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


def test_an_adapter_is_shown(tmp_path: Path) -> None:
    assert outcome(tmp_path, 'echo "$@: found"') == (0, "-p efa: found\n")


def test_none_ends_the_pod_with_what_to_look_at(tmp_path: Path) -> None:
    # What fi_info prints and returns where no provider matches: FI_ENODATA.
    status, said = outcome(tmp_path, 'echo "fi_getinfo: -61 (No data available)" >&2; exit 61')
    assert status == 1
    assert said.startswith("libfabric finds no EFA adapter in this pod")
    assert "device plugin" in said


def test_an_image_without_the_tool_is_said_to_be_unchecked(tmp_path: Path) -> None:
    status, said = outcome(tmp_path, None)
    assert status == 0
    assert said.endswith("is not in this image: whether libfabric finds an EFA adapter is not known.\n")
