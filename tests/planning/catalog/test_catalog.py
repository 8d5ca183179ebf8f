"""The catalogue's data, checked against sources that do not come from the catalogue."""

from __future__ import annotations

import re
from datetime import date
from importlib.metadata import distribution
from typing import Any

import pytest
import yaml

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.sizes import pod_cpu_cores, pod_memory_gib
from support.specs import FOUR_GPU_ROW, ROOT, spec_with

DATA = ROOT / "constructs_pd" / "planning" / "catalog" / "data"
CATALOG = load_catalog()
KEYS = {
    "instances.yaml": ("instance_type", CATALOG.instances),
    "offerings.yaml": ("region", CATALOG.offerings),
    "amis.yaml": ("ami_type", CATALOG.amis),
    "engine_arguments.yaml": ("vllm_version", CATALOG.engine_arguments),
    "images.yaml": ("tag", CATALOG.images),
    "registries.yaml": ("region", CATALOG.registries),
    "rollout.yaml": ("change", CATALOG.rollout),
    "accelerators.yaml": ("ray_version", CATALOG.accelerators),
    "unsuitable_instances.yaml": ("pattern", CATALOG.unsuitable_instances),
    "models.yaml": ("model", CATALOG.models),
    "kubernetes.yaml": ("version", CATALOG.kubernetes),
    "kuberay.yaml": ("version", CATALOG.kuberay),
}


def rows(file_name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = yaml.safe_load((DATA / file_name).read_text(encoding="utf-8"))
    return loaded


def test_every_data_file_is_loaded() -> None:
    assert sorted(KEYS) == sorted(file.name for file in DATA.iterdir())


@pytest.mark.parametrize("file_name", KEYS)
def test_every_row_is_loaded_under_a_key_of_its_own(file_name: str) -> None:
    key, loaded = KEYS[file_name]
    assert [row[key] for row in rows(file_name)] == list(loaded)


@pytest.mark.parametrize("file_name", KEYS)
def test_every_row_has_a_source_and_a_date_that_has_passed(file_name: str) -> None:
    _, loaded = KEYS[file_name]
    for row in loaded.values():
        assert len(row.source) > 10
        assert date(2026, 1, 1) <= row.date <= date.today()


def test_instances_leave_less_to_pods_than_they_have() -> None:
    for row in CATALOG.instances.values():
        assert row.allocatable_cpu_millicores < row.vcpus * 1000
        assert row.allocatable_memory_mib < row.memory_mib
        assert pod_cpu_cores(row) >= 3
        assert pod_memory_gib(row) >= 64


def test_accelerator_types_are_names_that_ray_knows() -> None:
    from ray.util.accelerators import accelerators

    known = {value for name, value in vars(accelerators).items() if name.startswith("NVIDIA_")}
    named = {row.gpu.ray_accelerator_type for row in CATALOG.instances.values()} - {None}
    assert named <= known
    assert CATALOG.accelerators["2.58.0"].names == known - {"A100-40G", "A100-80G"}
    nameless = {row.gpu.name for row in CATALOG.instances.values() if row.gpu.ray_accelerator_type is None}
    assert nameless == {"RTX PRO 4500"}


def test_image_versions_agree_with_what_rays_wheel_pins() -> None:
    ray = distribution("ray")
    pins = {
        match[1]: match[2]
        for requirement in ray.requires or ()
        if (match := re.match(r'(vllm|nixl)(?:\[\w+\])?==([\d.]+); extra == "llm"', requirement))
    }
    row = CATALOG.images["serve-llm-cuda-v1.0.0"]
    assert row.ray_version == ray.version
    assert {"vllm": row.vllm_version, "nixl": row.nixl_version} == pins


def test_rows_of_the_specification_come_on_top_and_win() -> None:
    new = {**FOUR_GPU_ROW, "instance_type": "own.1"}
    own = {**FOUR_GPU_ROW, "instance_type": "g6.8xlarge"}
    extended = CATALOG.extended_by(spec_with({"custom_instances": [new, own]}))
    assert set(extended.instances) == {*CATALOG.instances, "own.1"}
    assert extended.instances["g6.8xlarge"].gpu.count == 4
    assert CATALOG.instances["g6.8xlarge"].gpu.count == 1


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("g5g.16xlarge", "arm64"),
        ("p6e-gb200.36xlarge", "arm64"),
        ("g6.4xlarge", "no EFA"),
        ("g6e.xlarge", "no EFA"),
        ("g4dn.8xlarge", "bfloat16"),
        ("trn2.48xlarge", "no NVIDIA GPU"),
        ("m7i.xlarge", "no GPU"),
    ],
)
def test_instances_that_cannot_serve_have_a_reason(name: str, reason: str) -> None:
    row = CATALOG.unsuitable(name)
    assert row is not None
    assert reason in row.reason


def test_no_instance_of_the_table_is_called_something_else() -> None:
    assert CATALOG.unsuitable("p9.48xlarge") is None
    assert len(CATALOG.instances) == 32


def test_engine_argument_names_agree_with_the_lists_that_ray_is_tested_with() -> None:
    from readers.ray_session import argument_names

    row = CATALOG.engine_arguments["0.26.0"]
    assert (row.engine, row.frontend) == (
        frozenset(argument_names("engine")),
        frozenset(argument_names("frontend")),
    )


def test_only_china_has_another_suffix() -> None:
    china = {region for region, row in CATALOG.registries.items() if row.dns_suffix.endswith(".cn")}
    assert china == {"cn-north-1", "cn-northwest-1"}
    assert len(CATALOG.registries) == 36
    assert sum(row.account != "763104351884" for row in CATALOG.registries.values()) == 20
