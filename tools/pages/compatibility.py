"""The page of which versions go together."""

from __future__ import annotations

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.catalog.rows import ImageRow, KubeRayRow, KubernetesRow
from constructs_pd.planning.versions import version_key
from tools.pages.table import NOTE, table


def compatibility_page() -> str:
    """Return which versions go together."""
    catalog = load_catalog()
    head = (
        "# Compatibility\n\n"
        "Which versions of EKS, KubeRay, Ray, vLLM, NIXL, CUDA, NVIDIA's driver and EKS's machine image go together,\n"
        "and the rule that checks it. The facts stand in the catalogue; a container image of your own brings its own\n"
        "in `custom_images`, a machine image in `ami_driver_branch`.\n\n"
    )
    images = [
        (
            f"`{row.tag}`",
            row.ray_version,
            row.vllm_version,
            row.nixl_version,
            row.cuda_version or "not known",
            str(_least_driver(row) or "not known"),
            row.source,
            str(row.date),
        )
        for row in catalog.images.values()
    ]
    pins = [
        (row.ray_version, row.vllm_version, row.nixl_version, row.source, str(row.date)) for row in catalog.ray.values()
    ]
    cuda = [
        (f"{row.major}.x", str(row.least_driver_branch), row.source, str(row.date)) for row in catalog.cuda.values()
    ]
    amis = [
        (
            row.ami_type,
            str(row.driver_branch),
            f"{row.newer_driver_branch}, since release {row.newer_driver_since}" if row.newer_driver_branch else "",
            row.source,
            str(row.date),
        )
        for row in catalog.amis.values()
    ]
    gpus = {row.gpu.name: row.gpu.driver_branch for row in catalog.instances.values() if row.gpu.driver_branch}
    kuberay = [
        (row.version, " to ".join(row.kubernetes_versions), row.least_ray_version, row.source, str(row.date))
        for row in catalog.kuberay.values()
    ]
    kubernetes = [
        (
            row.version,
            row.support,
            str(row.standard_until or "not known"),
            ", ".join(known.version for known in catalog.kuberay.values() if _was_tested(known, row)),
            row.source,
            str(row.date),
        )
        for row in catalog.kubernetes.values()
    ]
    return (
        NOTE
        + head
        + "## Container images (PD401, PD407, PD413, PD417)\n\n"
        + table(("image", "Ray", "vLLM", "NIXL", "CUDA", "least driver", "source", "date"), images)
        + "\n## Ray and what its extra for language models pins (PD416)\n\n"
        + table(("Ray", "vLLM", "NIXL", "source", "date"), pins)
        + "\n## CUDA toolkit and driver (PD413)\n\n"
        + table(("CUDA", "least driver", "source", "date"), cuda)
        + "\n## EKS's machine images and driver (PD219, PD413)\n\n"
        + table(("machine image", "driver", "also, for GPUs that need it", "source", "date"), amis)
        + f"\nGPUs of which somebody says that they need a newer driver: {_listed(gpus)}.\n"
        + "\n## KubeRay, Kubernetes and Ray (PD404, PD414, PD415)\n\n"
        + table(("KubeRay", "Kubernetes in its tests", "least Ray", "source", "date"), kuberay)
        + "\n## Kubernetes on EKS (PD402, PD403)\n\n"
        + table(("Kubernetes", "support", "standard support until", "tested KubeRay", "source", "date"), kubernetes)
    )


def _least_driver(image: ImageRow) -> int | None:
    row = load_catalog().cuda.get(image.cuda_version.partition(".")[0]) if image.cuda_version else None
    return row.least_driver_branch if row else None


def _was_tested(kuberay: KubeRayRow, kubernetes: KubernetesRow) -> bool:
    oldest, newest = kuberay.kubernetes_versions
    return version_key(oldest) <= version_key(kubernetes.version) <= version_key(newest)


def _listed(gpus: dict[str, int]) -> str:
    return ", ".join(f"{name} ({branch})" for name, branch in gpus.items())
