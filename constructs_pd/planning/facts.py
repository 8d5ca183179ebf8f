"""A specification joined with the catalogue rows that it asks for: what the rules and the planner read."""

from __future__ import annotations

from dataclasses import dataclass

from constructs_pd.planning import defaults
from constructs_pd.planning.catalog.loader import Catalog
from constructs_pd.planning.catalog.rows import (
    AmiRow,
    CudaRow,
    EngineArgumentsRow,
    EngineMemoryRow,
    ImageRow,
    InstanceRow,
    KubeRayRow,
    KubernetesRow,
    ModelRow,
    OfferingsRow,
    RegistryRow,
)
from constructs_pd.planning.deployment_plan import PhaseName
from constructs_pd.planning.spec import DeploymentSpec
from constructs_pd.planning.spec_pods import Phase, Pod


@dataclass(frozen=True, slots=True)
class PhaseFacts:
    """A phase as specified, with its instance type's row; `instance` is none when the catalogue lacks it."""

    name: PhaseName
    spec: Phase
    instance: InstanceRow | None

    @property
    def tensor_parallel(self) -> int | None:
        """GPUs of one engine: as specified, else every GPU of the node, else unknown."""
        if self.spec.tensor_parallel is not None:
            return self.spec.tensor_parallel
        return self.instance.gpu.count if self.instance else None


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that is known before the plan is made. A row is none when the catalogue lacks it.

    `built_in` is the catalogue as it came, `catalog` the same with the rows that the specification brings.
    """

    spec: DeploymentSpec
    built_in: Catalog
    catalog: Catalog
    prefill: PhaseFacts
    decode: PhaseFacts
    image: ImageRow | None
    model: ModelRow | None
    kubernetes: KubernetesRow | None
    kuberay: KubeRayRow | None
    registry: RegistryRow | None
    offerings: OfferingsRow | None
    ami: AmiRow
    cuda: CudaRow | None
    engine_arguments: EngineArgumentsRow | None
    engine_memory: EngineMemoryRow | None

    @property
    def pods(self) -> tuple[tuple[str, Pod], ...]:
        """What the user adds to each kind of pod, with its path in the specification."""
        spec = self.spec
        return (("head.pod", spec.head.pod), ("prefill.pod", spec.prefill.pod), ("decode.pod", spec.decode.pod))

    @property
    def phases(self) -> tuple[PhaseFacts, PhaseFacts]:
        """Both phases, prefill first."""
        return (self.prefill, self.decode)


def gather(spec: DeploymentSpec, catalog: Catalog) -> Facts:
    """Look up every row that the specification asks for, in the catalogue and in the rows that it brings."""
    known = catalog.extended_by(spec)
    image = known.images.get(spec.image.tag)
    return Facts(
        spec=spec,
        built_in=catalog,
        catalog=known,
        prefill=PhaseFacts("prefill", spec.prefill, known.instances.get(spec.prefill.instance_type)),
        decode=PhaseFacts("decode", spec.decode, known.instances.get(spec.decode.instance_type)),
        image=image,
        model=known.models.get(spec.model.source),
        kubernetes=known.kubernetes.get(spec.kubernetes_version),
        kuberay=known.kuberay.get(spec.kuberay_version),
        registry=known.registries.get(spec.region),
        offerings=known.offerings.get(spec.region),
        ami=known.amis[defaults.AMI_TYPE],
        cuda=_cuda(known, image),
        engine_arguments=known.engine_arguments.get(image.vllm_version) if image else None,
        engine_memory=known.engine_memory.get(image.vllm_version) if image else None,
    )


def _cuda(catalog: Catalog, image: ImageRow | None) -> CudaRow | None:
    if image is None or image.cuda_version is None:
        return None
    return catalog.cuda.get(image.cuda_version.partition(".")[0])
