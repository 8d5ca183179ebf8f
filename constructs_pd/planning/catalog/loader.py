"""Reads the catalogue's data files into typed rows. The only module that knows where they lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

import yaml
from pydantic import TypeAdapter

from constructs_pd.planning.catalog.rows import (
    OWN_DATA,
    AcceleratorsRow,
    AddonRow,
    AmiRow,
    ChartRow,
    ChartValueRow,
    CudaRow,
    EngineArgumentsRow,
    EngineMemoryRow,
    EngineSpeedRow,
    Gpu,
    GpuMemoryRow,
    GpuSpeedRow,
    ImageRow,
    InstanceRow,
    KnownDefectRow,
    KubeRayRow,
    KubernetesRow,
    ModelRow,
    OfferingsRow,
    PredictionErrorRow,
    QuotaRow,
    RayRow,
    RegistryRow,
    RolloutRow,
    Row,
    SystemInstanceRow,
    TlsPolicyRow,
    TransferPathRow,
    UnsuitableInstanceRow,
    UnsupportedZoneRow,
)

if TYPE_CHECKING:
    from constructs_pd.planning.spec import DeploymentSpec

R = TypeVar("R", bound=Row)

# libyaml's loader where PyYAML was built with it: ten times as quick.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Catalog:
    """All rows, by key: the name under which a specification asks for them."""

    instances: Mapping[str, InstanceRow]
    unsuitable_instances: Mapping[str, UnsuitableInstanceRow]
    offerings: Mapping[str, OfferingsRow]
    system_instances: Mapping[str, SystemInstanceRow]
    accelerators: Mapping[str, AcceleratorsRow]
    amis: Mapping[str, AmiRow]
    images: Mapping[str, ImageRow]
    registries: Mapping[str, RegistryRow]
    engine_arguments: Mapping[str, EngineArgumentsRow]
    engine_memory: Mapping[str, EngineMemoryRow]
    gpu_memory: Mapping[str, GpuMemoryRow]
    gpu_speed: Mapping[str, GpuSpeedRow]
    engine_speed: Mapping[str, EngineSpeedRow]
    prediction_errors: Mapping[str, PredictionErrorRow]
    quotas: Mapping[str, QuotaRow]
    transfer_paths: Mapping[str, TransferPathRow]
    models: Mapping[str, ModelRow]
    kubernetes: Mapping[str, KubernetesRow]
    kuberay: Mapping[str, KubeRayRow]
    ray: Mapping[str, RayRow]
    cuda: Mapping[str, CudaRow]
    known_defects: Mapping[str, KnownDefectRow]
    addons: Mapping[str, AddonRow]
    charts: Mapping[str, ChartRow]
    chart_values: Mapping[str, ChartValueRow]
    eks_registries: Mapping[str, RegistryRow]
    unsupported_zones: Mapping[str, UnsupportedZoneRow]
    rollout: Mapping[str, RolloutRow]
    tls_policies: Mapping[str, TlsPolicyRow]

    def extended_by(self, spec: DeploymentSpec) -> Catalog:
        """Return the catalogue with the rows that the specification brings; they win over equal names."""
        return replace(
            self,
            instances={**self.instances, **_by_key(spec.custom_instances, "instance_type")},
            images={**self.images, **_by_key(spec.custom_images, "tag")},
            models={**self.models, **_by_key(spec.custom_models, "model")},
        )

    def memory_of(self, gpu: Gpu) -> GpuMemoryRow | None:
        """Return what CUDA counts of a GPU's memory, or none where nobody says: A100 has two sizes."""
        return self.gpu_memory.get(f"{gpu.name} {gpu.memory_mib}")

    def speed_of(self, gpu: Gpu) -> GpuSpeedRow | None:
        """Return how fast a GPU is, or none where nobody says: A100 has two sizes."""
        return self.gpu_speed.get(f"{gpu.name} {gpu.memory_mib}")

    def unsuitable(self, instance_type: str) -> UnsuitableInstanceRow | None:
        """Return why an instance type that the built-in catalogue lacks cannot serve, if that is known."""
        rows = self.unsuitable_instances.values()
        return next((row for row in rows if fnmatchcase(instance_type, row.pattern)), None)


@cache
def load_catalog() -> Catalog:
    """Return the built-in catalogue; the files are read once per process."""
    return Catalog(
        instances=_by_key(_read("instances.yaml", InstanceRow), "instance_type"),
        unsuitable_instances=_by_key(_read("unsuitable_instances.yaml", UnsuitableInstanceRow), "pattern"),
        offerings=_by_key(_read("offerings.yaml", OfferingsRow), "region"),
        system_instances=_by_key(_read("system_instances.yaml", SystemInstanceRow), "instance_type"),
        amis=_by_key(_read("amis.yaml", AmiRow), "ami_type"),
        accelerators=_by_key(_read("accelerators.yaml", AcceleratorsRow), "ray_version"),
        images=_by_key(_read("images.yaml", ImageRow), "tag"),
        registries=_by_key(_read("registries.yaml", RegistryRow), "region"),
        engine_memory=_by_key(_read("engine_memory.yaml", EngineMemoryRow), "vllm_version"),
        gpu_memory=_by_key(_read("gpu_memory.yaml", GpuMemoryRow), "gpu"),
        gpu_speed=_by_key(_read("gpu_speed.yaml", GpuSpeedRow), "gpu"),
        engine_speed=_by_key(_read("engine_speed.yaml", EngineSpeedRow), "vllm_version"),
        prediction_errors=_by_key(_read("prediction_errors.yaml", PredictionErrorRow), "number"),
        quotas=_by_key(_read("quotas.yaml", QuotaRow), "families"),
        transfer_paths=_by_key(_read("transfer_paths.yaml", TransferPathRow), "path"),
        engine_arguments=_by_key(_read("engine_arguments.yaml", EngineArgumentsRow), "vllm_version"),
        models=_by_key(_read("models.yaml", ModelRow), "model"),
        kubernetes=_by_key(_read("kubernetes.yaml", KubernetesRow), "version"),
        kuberay=_by_key(_read("kuberay.yaml", KubeRayRow), "version"),
        ray=_by_key(_read("ray.yaml", RayRow), "ray_version"),
        cuda=_by_key(_read("cuda.yaml", CudaRow), "major"),
        known_defects=_by_key(_read("known_defects.yaml", KnownDefectRow), "id"),
        addons=_by_key(_read("addons.yaml", AddonRow), "addon"),
        charts=_by_key(_read("charts.yaml", ChartRow), "chart"),
        chart_values=_by_key(_read("chart_values.yaml", ChartValueRow), "value"),
        eks_registries=_by_key(_read("eks_registries.yaml", RegistryRow), "region"),
        unsupported_zones=_by_key(_read("unsupported_zones.yaml", UnsupportedZoneRow), "zone"),
        rollout=_by_key(_read("rollout.yaml", RolloutRow), "change"),
        tls_policies=_by_key(_read("tls_policies.yaml", TlsPolicyRow), "policy"),
    )


def _read(file_name: str, row_type: type[R]) -> list[R]:
    text = files(__package__).joinpath("data", file_name).read_text(encoding="utf-8")
    rows: list[R] = TypeAdapter(list[row_type]).validate_python(  # type: ignore[valid-type]
        yaml.load(text, Loader=_LOADER), context={OWN_DATA: True}
    )
    return rows


def _by_key(rows: Iterable[R], key: str) -> dict[str, R]:
    return {getattr(row, key): row for row in rows}
