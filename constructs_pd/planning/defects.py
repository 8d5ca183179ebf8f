"""Which known defects a deployment meets: the versions that it runs, and what it must have for the defect to show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from constructs_pd.planning.attention import has_windows, is_sparse, stated_backend
from constructs_pd.planning.catalog.loader import Catalog
from constructs_pd.planning.catalog.rows import DefectComponent, DefectCondition, KnownDefectRow
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.hand_over_size import read_sources
from constructs_pd.planning.versions import OLDEST_IN_AN_IMAGE, version_key


def met_defects(facts: Facts) -> Iterator[tuple[KnownDefectRow, str]]:
    """Yield each defect that the planned versions have and whose condition holds, with the version."""
    for row in facts.catalog.known_defects.values():
        version = _version(facts, row.component)
        if version is not None and row.affects(version) and CONDITIONS[row.condition](facts):
            yield row, version


def why_never_met(row: KnownDefectRow, catalog: Catalog) -> str | None:
    """Return why no deployment that is permitted meets a defect, or none where one can.

    Such a row is history: it says why something is planned as it is, or why older versions are refused.
    """
    if CONDITIONS[row.condition] is _never:
        return "the hand-over is planned to be without it"
    oldest = {"kuberay": min(catalog.kuberay, key=version_key), **OLDEST_IN_AN_IMAGE}[row.component]
    if row.first_fixed is not None and version_key(row.first_fixed) <= version_key(oldest):
        return f"{row.component} before {oldest} is refused"
    return None


def _version(facts: Facts, component: DefectComponent) -> str | None:
    """Return the version of a component that is planned, or none where its row is missing."""
    if component == "kuberay":
        return facts.kuberay.version if facts.kuberay else None
    image = facts.image
    if image is None:
        return None
    return {"nixl": image.nixl_version, "ray": image.ray_version, "vllm": image.vllm_version}[component]


def _always(facts: Facts) -> bool:
    return True


def _never(facts: Facts) -> bool:
    """The hand-over is planned to be without it: NixlConnector reads over LIBFABRIC (manifests/serve_config.py)."""
    return False


def _is_hybrid(facts: Facts) -> bool:
    return facts.model is not None and facts.model.attention == "hybrid"


def _has_windows(facts: Facts) -> bool:
    return facts.model is not None and has_windows(facts.model)


def _has_several_kinds_of_cache(facts: Facts) -> bool:
    return _is_hybrid(facts) or _has_windows(facts)


def _has_caches_of_unequal_layers(facts: Facts) -> bool:
    """Whether vLLM finds no one kind of cache for all layers: an indexer and a draft model's layers have their own."""
    is_indexed = facts.model is not None and is_sparse(facts.model)
    return _has_several_kinds_of_cache(facts) or is_indexed or _drafts(facts)


def _drafts(facts: Facts) -> bool:
    """Whether another model drafts, of whose layers nothing is known here."""
    for phase in facts.phases:
        config = phase.spec.engine_args.get("speculative_config")
        stated = config.get("model") if isinstance(config, dict) else None
        if stated is not None or phase.spec.engine_args.get("spec_model") is not None:
            return True
    return False


def _caches_prefixes(facts: Facts) -> bool:
    """VLLM has it off on hybrid models where nobody states it (0.26.0 engine/arg_utils.py)."""
    return any(phase.spec.engine_args.get("enable_prefix_caching") is True for phase in facts.phases)


def _speculates(facts: Facts) -> bool:
    names = ("speculative_config", "spec_method", "spec_model")
    return any(phase.spec.engine_args.get(name) is not None for phase in facts.phases for name in names)


def _is_hybrid_with_prefix_caching(facts: Facts) -> bool:
    return _is_hybrid(facts) and _caches_prefixes(facts)


def _is_hybrid_with_prefix_caching_and_speculation(facts: Facts) -> bool:
    return _is_hybrid_with_prefix_caching(facts) and _speculates(facts)


def _upgrades_by_a_new_cluster(facts: Facts) -> bool:
    return facts.spec.upgrade.strategy == "new_cluster"


def _reads_from_several(facts: Facts) -> bool:
    """A GPU of decode reads from several of prefill, but for latent attention: one has the whole cache."""
    return (read_sources(facts) or 1) > 1


def _has_unequal_sizes_with_windows(facts: Facts) -> bool:
    return _has_windows(facts) and facts.prefill.tensor_parallel != facts.decode.tensor_parallel


def _has_flashinfer_with_windows_on_hopper(facts: Facts) -> bool:
    return _has_windows(facts) and any(
        stated_backend(phase.spec.engine_args) == "FLASHINFER"
        and phase.instance is not None
        and phase.instance.gpu.compute_capability == "9.0"
        for phase in facts.phases
    )


CONDITIONS: Final[dict[DefectCondition, Callable[[Facts], bool]]] = {
    "always": _always,
    "caches_of_unequal_layers": _has_caches_of_unequal_layers,
    "flashinfer_with_windows_on_hopper": _has_flashinfer_with_windows_on_hopper,
    "hybrid_model": _is_hybrid,
    "hybrid_model_with_prefix_caching": _is_hybrid_with_prefix_caching,
    "hybrid_model_with_prefix_caching_and_speculation": _is_hybrid_with_prefix_caching_and_speculation,
    "new_cluster_upgrade": _upgrades_by_a_new_cluster,
    "other_hand_over": _never,
    "prefill_wider_than_decode": _reads_from_several,
    "several_kinds_of_cache": _has_several_kinds_of_cache,
    "unequal_sizes_with_windows": _has_unequal_sizes_with_windows,
}
