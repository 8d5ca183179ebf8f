"""The catalogue's data, checked against sources that do not come from the catalogue."""

from __future__ import annotations

import re
from datetime import date
from importlib.metadata import distribution
from importlib.resources import files
from typing import Any, get_args

import pytest
import yaml
from pydantic import TypeAdapter

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.catalog.rows import KnownDefectRow
from constructs_pd.planning.defaults import HEAD_CPU_REQUEST_CORES, SYSTEM_RESERVE_MEMORY_MIB
from constructs_pd.planning.sizes import MIB_PER_GIB, pod_cpu_cores, pod_memory_gib
from constructs_pd.planning.spec_cluster import Addon, AddonVersion, SystemNodes
from constructs_pd.planning.spec_pods import Head
from constructs_pd.planning.zones import is_zone_id, zone_id_prefix
from support.specs import FOUR_GPU_ROW, ROOT, spec_with

DATA = ROOT / "constructs_pd" / "planning" / "catalog" / "data"
CATALOG = load_catalog()
KEYS = {
    "instances.yaml": ("instance_type", CATALOG.instances),
    "offerings.yaml": ("region", CATALOG.offerings),
    "amis.yaml": ("ami_type", CATALOG.amis),
    "engine_arguments.yaml": ("vllm_version", CATALOG.engine_arguments),
    "engine_memory.yaml": ("vllm_version", CATALOG.engine_memory),
    "engine_speed.yaml": ("vllm_version", CATALOG.engine_speed),
    "gpu_memory.yaml": ("gpu", CATALOG.gpu_memory),
    "gpu_speed.yaml": ("gpu", CATALOG.gpu_speed),
    "prediction_errors.yaml": ("number", CATALOG.prediction_errors),
    "quotas.yaml": ("families", CATALOG.quotas),
    "transfer_paths.yaml": ("path", CATALOG.transfer_paths),
    "images.yaml": ("tag", CATALOG.images),
    "registries.yaml": ("region", CATALOG.registries),
    "rollout.yaml": ("change", CATALOG.rollout),
    "accelerators.yaml": ("ray_version", CATALOG.accelerators),
    "unsuitable_instances.yaml": ("pattern", CATALOG.unsuitable_instances),
    "models.yaml": ("model", CATALOG.models),
    "kubernetes.yaml": ("version", CATALOG.kubernetes),
    "kuberay.yaml": ("version", CATALOG.kuberay),
    "ray.yaml": ("ray_version", CATALOG.ray),
    "cuda.yaml": ("major", CATALOG.cuda),
    "known_defects.yaml": ("id", CATALOG.known_defects),
    "system_instances.yaml": ("instance_type", CATALOG.system_instances),
    "addons.yaml": ("addon", CATALOG.addons),
    "chart_values.yaml": ("value", CATALOG.chart_values),
    "charts.yaml": ("chart", CATALOG.charts),
    "eks_registries.yaml": ("region", CATALOG.eks_registries),
    "unsupported_zones.yaml": ("zone", CATALOG.unsupported_zones),
    "tls_policies.yaml": ("policy", CATALOG.tls_policies),
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
        # What somebody published stays what it was; the rest is looked up again.
        since = 2023 if file_name == "prediction_errors.yaml" else 2026
        assert date(since, 1, 1) <= row.date <= date.today()


def test_instances_leave_less_to_pods_than_they_have() -> None:
    for row in CATALOG.instances.values():
        assert row.allocatable_cpu_millicores < row.vcpus * 1000
        assert row.allocatable_memory_mib < row.memory_mib
        assert pod_cpu_cores(row) >= 3
        assert pod_memory_gib(row) >= 64


def test_system_instances_leave_less_to_pods_than_they_have_and_enough_for_the_default_head() -> None:
    head_mib = Head().memory_gib * MIB_PER_GIB
    for row in CATALOG.system_instances.values():
        assert HEAD_CPU_REQUEST_CORES * 1000 < row.allocatable_cpu_millicores < row.vcpus * 1000
        assert head_mib + SYSTEM_RESERVE_MEMORY_MIB <= row.allocatable_memory_mib < row.memory_mib


def test_the_default_system_instance_stands_in_the_table() -> None:
    assert SystemNodes().instance_type in CATALOG.system_instances


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


def test_every_add_on_of_a_specification_has_a_row() -> None:
    assert set(CATALOG.addons) == set(get_args(Addon))


@pytest.mark.parametrize("name", CATALOG.addons)
def test_an_add_on_has_a_version_for_each_kubernetes_version(name: str) -> None:
    row = CATALOG.addons[name]
    assert set(row.versions) == set(CATALOG.kubernetes)
    assert row.unconfirmed <= set(CATALOG.kubernetes)
    for version in row.versions.values():
        TypeAdapter(AddonVersion).validate_python(version)


def test_kube_proxy_is_of_the_minor_version_of_kubernetes() -> None:
    for kubernetes, version in CATALOG.addons["kube-proxy"].versions.items():
        assert version.startswith(f"v{kubernetes}.")


def test_the_chart_of_kuberay_is_of_a_release_that_is_known() -> None:
    assert CATALOG.charts["kuberay-operator"].version in CATALOG.kuberay


def test_zones_without_a_control_plane_are_ids_of_regions_that_are_known() -> None:
    prefixes = {zone_id_prefix(region) for region in CATALOG.registries}
    for zone in CATALOG.unsupported_zones:
        assert is_zone_id(zone)
        assert zone.partition("-")[0] in prefixes


def test_eks_has_registries_where_aws_has_images_but_one_and_in_govcloud() -> None:
    assert CATALOG.registries.keys() - CATALOG.eks_registries.keys() == {"ap-southeast-5"}
    assert CATALOG.eks_registries.keys() - CATALOG.registries.keys() == {"us-gov-east-1", "us-gov-west-1"}


def test_eks_registries_end_as_the_regions_others_do() -> None:
    both = CATALOG.registries.keys() & CATALOG.eks_registries.keys()
    suffixes = {region: CATALOG.eks_registries[region].dns_suffix for region in both}
    assert suffixes == {region: CATALOG.registries[region].dns_suffix for region in both}
    own = [region for region, row in CATALOG.eks_registries.items() if row.account != "602401143452"]
    assert len(own) == 20


def test_known_defects_are_at_least_a_dozen_and_named_by_their_threads() -> None:
    assert len(CATALOG.known_defects) >= 12
    for row in CATALOG.known_defects.values():
        assert f"#{row.id.rpartition('-')[2]}" in row.source


@pytest.mark.parametrize(("first_affected", "first_fixed"), [("1.3.1", "1.3.1"), ("1.10.0", "1.9.0")])
def test_a_defects_range_is_not_empty(first_affected: str, first_fixed: str) -> None:
    row = CATALOG.known_defects["nixl-1862"].model_dump()
    with pytest.raises(ValueError, match=rf"fixed in {first_fixed}, first seen in {first_affected}"):
        KnownDefectRow.model_validate({**row, "first_affected": first_affected, "first_fixed": first_fixed})


@pytest.mark.parametrize(
    ("version", "affected"), [("1.2.9", False), ("1.3.0", True), ("1.3.1", True), ("1.3.2", False), ("1.10.0", False)]
)
def test_small_writes_hang_in_two_releases_of_nixl(version: str, affected: bool) -> None:
    assert CATALOG.known_defects["nixl-1862"].affects(version) is affected


def test_aws_image_agrees_with_the_pins_of_its_ray() -> None:
    image = CATALOG.images["serve-llm-cuda-v1.0.0"]
    ray = CATALOG.ray[image.ray_version]
    assert (image.vllm_version, image.nixl_version) == (ray.vllm_version, ray.nixl_version)


def test_the_stock_machine_image_runs_the_cuda_of_every_image() -> None:
    least = {row.least_driver_branch for row in CATALOG.cuda.values()}
    assert max(least) <= CATALOG.amis["AL2023_x86_64_NVIDIA"].driver_branch


def test_tls_policies_are_as_elb_describes_them() -> None:
    from moto.elbv2.ssl_policies import SSL_POLICIES

    versions = {"TLSv1": "1.0", "TLSv1.1": "1.1", "TLSv1.2": "1.2", "TLSv1.3": "1.3"}
    described = {name: min(versions[found] for found in row["ssl_protocols"]) for name, row in SSL_POLICIES.items()}
    known = {row.policy: row.least_tls for row in CATALOG.tls_policies.values()}
    assert {name: known.get(name) for name in described} == described
    # What is known beyond that says its versions in its name.
    for name in known.keys() - described.keys():
        assert f"-TLS13-{known[name].replace('.', '-')}-" in name


SYSTEMS = {
    "L4 22888": "l4",
    "L40S 45776": "l40s",
    "A100 81920": "a100_sxm",
    "H100 81920": "h100_sxm",
    "H200 144384": "h200_sxm",
    "B200 183359": "b200_sxm",
    "B300 275040": "b300_sxm",
    "RTX PRO 6000 98304": "rtx_pro_6000_server",
}


@pytest.mark.parametrize("gpu", SYSTEMS)
def test_gpus_are_as_fast_as_another_planner_says(gpu: str) -> None:
    text = files("aiconfigurator_core").joinpath("systems", f"{SYSTEMS[gpu]}.yaml").read_text(encoding="utf-8")
    other, row = yaml.safe_load(text)["gpu"], CATALOG.gpu_speed[gpu]
    assert row.half_tflops * 1e12 == pytest.approx(other["bfloat16_tc_flops"], rel=1e-3)
    assert (row.fp8_tflops or 0) * 1e12 == pytest.approx(other.get("fp8_tc_flops", 0), rel=1e-3)
    assert (row.fp4_tflops or 0) * 1e12 == pytest.approx(other.get("fp4_tc_flops", 0), rel=1e-3)
    assert row.memory_gigabytes_per_second * 1e9 == pytest.approx(other["mem_bw"], rel=1e-3)


def test_the_speed_of_every_gpu_but_one_is_known() -> None:
    unknown = {row.gpu.name for row in CATALOG.instances.values() if CATALOG.speed_of(row.gpu) is None}
    assert unknown == {"RTX PRO 4500"}


def test_every_instance_type_counts_against_a_quota() -> None:
    assert {row.instance_type[0] for row in CATALOG.instances.values()} == set(CATALOG.quotas)


def test_a_share_is_known_where_the_precision_is() -> None:
    for row in CATALOG.gpu_speed.values():
        assert (row.fp8_tflops is None) == (row.fp8_efficiency is None)
        assert (row.fp4_tflops is None) == (row.fp4_efficiency is None)
