"""Write the pages of docs/ that are made from data.

Usage: PYTHONPATH=. python tools/pages.py
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from benchmarks.memory import Comparison, compared, start_up_logs
from constructs_pd import plan_file
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.catalog.rows import (
    DefectCondition,
    ImageRow,
    KubeRayRow,
    KubernetesRow,
    ModelRow,
    RolloutEffects,
)
from constructs_pd.planning.codes import OTHER_CODES
from constructs_pd.planning.footprint import footprint
from constructs_pd.planning.gpu_memory import GIB
from constructs_pd.planning.model_base import model_in
from constructs_pd.planning.models.families import ARCHITECTURES, REFUSED
from constructs_pd.planning.rules import RULES
from constructs_pd.planning.spec import DeploymentSpec
from constructs_pd.planning.versions import version_key

DOCS = Path(__file__).resolve().parent.parent / "docs"
MIB = 1024**2
NOTE = "<!-- Written by `make pages`; change the data instead. -->\n"


def rules_page() -> str:
    """Return the catalogue of every code: rules and other errors."""
    head = (
        "# Rules\n\n"
        "What is checked before anything is written. An error stops the synth; a rule's warning is printed\n"
        "until it is acknowledged with a reason. A code never changes its meaning.\n\n"
    )
    rows = [
        *((code.code, str(code.severity), code.title, "", code.rationale, code.source) for code in OTHER_CODES),
        *(
            (rule.code, str(rule.severity), rule.title, rule.arithmetic or "", rule.rationale, rule.source)
            for rule in RULES
        ),
    ]
    columns = ("code", "severity", "what must hold", "arithmetic", "what happens otherwise", "source")
    return NOTE + head + _table(columns, sorted(rows))


def model_sizes_page() -> str:
    """Return the sizes of every model of the catalogue."""
    head = (
        "# Sizes of the catalogue's models\n\n"
        "On one GPU, with weights and KV cache as the checkpoint has them. [models.md](models.md) says how the\n"
        "numbers come about, and how to state a model that is not here. `constructs-pd models --json` has the same as\n"
        "data.\n\n"
        "KV cache is what a token takes in the layers that keep every token. Layers with a window keep the last\n"
        "tokens alone, and a hybrid model's other layers one state for a request.\n\n"
    )
    columns = (
        "model",
        "parameters",
        "weights",
        "weights as",
        "KV cache",
        "windows",
        "state",
        "context",
        "source",
        "date",
    )
    models = [_model_sizes(row) for row in load_catalog().models.values()]
    read = [(f"`{name}`", "yes" if family.see else "") for name, family in sorted(ARCHITECTURES.items())]
    refused = [(f"`{name}`", reason) for name, reason in sorted(REFUSED.items())]
    return (
        NOTE
        + head
        + _table(columns, models)
        + "\n## Architectures whose config.json is read\n\n"
        + _table(("architecture", "with a vision tower"), read)
        + "\n## Architectures that are refused with a reason\n\n"
        + _table(("architecture", "why"), refused)
    )


def _model_sizes(row: ModelRow) -> tuple[str, ...]:
    facts, size = row.facts, footprint(row)
    assert facts is not None
    assert size is not None
    windows = (
        f"{window.bytes_per_token:,} bytes/token of the last {window.window_tokens:,}" for window in size.windows
    )
    return (
        row.model,
        f"{facts.parameters / 1e9:,.2f} billion",
        f"{size.weight_bytes / GIB:,.2f} GiB",
        facts.quantization or facts.dtype,
        f"{size.kv_bytes_per_token:,} bytes/token",
        "<br>".join(windows),
        f"{size.state_bytes_per_request / MIB:,.1f} MiB" if size.state_bytes_per_request else "",
        f"{row.max_position_embeddings:,} tokens",
        row.source,
        str(row.date),
    )


def rollout_page() -> str:
    """Return what each kind of change does to a running service."""
    head = (
        "# How a change is rolled out\n\n"
        "Change the specification, run `make synth`, deploy the stacks, apply `dist/` again. What then happens\n"
        "depends on what changed and, for the manifests, on `upgrade.strategy`. A plan carries the same as data:\n"
        "`plan.rollout`. Where several fields change at once, under `new_cluster` a second cluster takes all that the\n"
        "RayService says.\n\n"
        "| part | what it is |\n|---|---|\n"
        "| application | the applications of `serveConfigV2`: engines and their arguments |\n"
        "| proxies | the rest of `serveConfigV2`: options of Serve's HTTP proxies |\n"
        "| pods | the cluster in the RayService, as far as KubeRay compares it |\n"
        "| group_sizes, tolerations | its numbers of pods and its tolerations, which KubeRay does not compare |\n"
        "| service | the RayService's own labels, annotations and fields |\n"
        "| objects | Namespace, ServiceAccount, Services, Ingress and disruption budgets |\n"
        "| identity | the RayService's name and namespace |\n"
        "| nodes | the stack of the GPU nodes |\n"
        "| cluster | the stacks of the cluster and its add-ons, where the specification has one made |\n\n"
        "| effect | meaning |\n|---|---|\n"
        "| in_place | it reaches the running service |\n"
        "| second_cluster | KubeRay starts a second RayCluster with it, moves the traffic, then deletes the first |\n"
        "| ignored | it stays in the RayService and reaches nothing that runs |\n"
        "| new_service | it is another object; the old one stays |\n"
        "| nodes_replaced | EKS replaces the nodes one at a time: new ones first, in a reservation old ones |\n"
        "| second_node_group | CloudFormation makes a second node group beside the first, then deletes the first |\n"
        "| new_stack | it is another stack; the old one stays |\n"
        "| remade | CloudFormation makes a resource of it anew and deletes the first; the note says which |\n\n"
        "A field stands for everything below it as well. What a field that every deployment has does to a cluster\n"
        "that is made here stands in the note.\n\n"
    )
    rows = [
        (
            row.change,
            ", ".join(f"`{field}`" for field in row.fields),
            _effects(row.none),
            _effects(row.new_cluster),
            row.note,
            row.source,
        )
        for row in load_catalog().rollout.values()
    ]
    columns = ("what changes", "fields", "`none`", "`new_cluster`", "what follows", "source")
    return NOTE + head + _table(columns, rows)


def _effects(effects: RolloutEffects) -> str:
    return "<br>".join(f"{part}: {effect}" for part, effect in effects.items()) or "nothing changes"


def specification_page() -> str:
    """Return every field of a specification with its default."""
    head = "# Specification\n\nEvery field of a specification file. A field without a default is required.\n\n"
    return NOTE + head + _table(("field", "default", "expected"), _fields(DeploymentSpec, ""))


def add_ons_page() -> str:
    """Return every add-on and chart of the reference deployment, with its version and what is set in it."""
    planned = plan_file(DOCS.parent / "apps" / "reference.yaml")
    assert planned.eks_cluster is not None
    head = (
        "# Add-ons\n\n"
        "What a deployment needs in its cluster beside its own objects, as the reference deployment has it. What is\n"
        "not set is the add-on's or the chart's own. Tests render the charts with Helm as they are published, with\n"
        "these values.\n\n"
    )
    catalog = load_catalog()
    addons = [
        (
            addon.name,
            addon.version,
            addon.stage,
            f"`{json.dumps(addon.configuration)}`" if addon.configuration else "",
            catalog.addons[addon.name].source,
            str(catalog.addons[addon.name].date),
        )
        for addon in planned.eks_cluster.addons
    ]
    charts = [
        (
            chart.name,
            chart.version,
            chart.namespace,
            _values({**chart.values, **{name: f"<{what}>" for name, what in chart.cluster_values.items()}}),
            catalog.charts[chart.name].source,
            str(catalog.charts[chart.name].date),
        )
        for chart in planned.charts
    ]
    values = [(f"{row.chart}: `{row.path}`", row.reason, row.source) for row in catalog.chart_values.values()]
    note = (
        "\n`eks_cluster.addon_versions` takes other versions; PD410 says of which versions nobody has seen that EKS "
        "offers them.\n"
    )
    return (
        NOTE
        + head
        + "## Add-ons that EKS manages, in a new cluster\n\n"
        + _table(("add-on", "version", "when", "configuration", "source", "date"), addons)
        + note
        + "\n## Helm charts, in any cluster\n\n"
        + _table(("chart", "version", "namespace", "values", "source", "date"), charts)
        + "\n"
        + _table(("value", "why", "source"), values)
    )


def memory_accuracy_page() -> str:
    """Return the memory estimates beside published start-up logs."""
    head = (
        "# The memory estimate beside start-up logs\n\n"
        "What vLLM logged on real GPUs, per GPU, beside what the planner estimates from the GPU's memory, the model's\n"
        "`config.json` and the engine's arguments alone. Tokens are those that the logged size of the KV cache holds.\n"
        "The data is in `benchmarks/start_up_logs.yaml`, with the line by which to find a log that has no address.\n\n"
    )
    comparisons = [compared(log) for log in start_up_logs()]
    errors = [abs(found.kv_cache_error) for found in comparisons if found.kv_cache_error is not None]
    summary = (
        f"KV cache: {len(errors)} logs, median error {median(errors):.1%}, worst {max(errors):.1%}. "
        f"Tokens: {sum(found.tokens_error is not None for found in comparisons)} logs, worst error "
        f"{max(abs(found.tokens_error or 0) for found in comparisons):.1%}.\n\n"
    )
    columns = ("log", "vLLM", "GPUs", "weights GiB", "KV cache GiB", "error", "tokens", "error", "why", "source, date")
    return NOTE + head + summary + _table(columns, map(_comparison, comparisons))


def _comparison(found: Comparison) -> tuple[str, ...]:
    log = found.log
    return (
        log.name,
        log.vllm_version,
        str(log.tensor_parallel),
        _beside(found.weights_gib, log.weights_gib, ".2f"),
        _beside(found.kv_cache_gib, log.kv_cache_gib, ".2f"),
        "" if found.kv_cache_error is None else f"{found.kv_cache_error:+.1%}",
        _beside(found.kv_cache_tokens, log.kv_cache_tokens, ","),
        "" if found.tokens_error is None else f"{found.tokens_error:+.2%}",
        log.reason or "",
        f"{log.source}, {log.date}",
    )


def _beside(estimated: float | None, logged: float | None, form: str) -> str:
    return "" if estimated is None or logged is None else f"{estimated:{form}} for {logged:{form}}"


def transfer_paths_page() -> str:
    """Return the ways of a KV cache with their numbers."""
    head = (
        "# Transfer paths\n\n"
        "What [the hand-over's arithmetic](hand_over.md) takes of each way for a KV cache. The least of the limits\n"
        "counts: the share of the line rate, the most of an engine, the most of a connection times decode's GPUs.\n\n"
    )
    rows = [
        (
            f"`{row.path}`",
            row.title,
            f"{row.efficiency:.0%}",
            f"{row.best_efficiency:.0%}",
            _gbps(row.engine_gbps),
            _gbps(row.flow_gbps),
            _gbps(row.group_flow_gbps),
            f"{row.fixed_ms:g} ms",
            f"{row.descriptor_us:g} us",
            row.source,
            str(row.date),
        )
        for row in load_catalog().transfer_paths.values()
    ]
    columns = (
        "path",
        "what it is",
        "of the line rate",
        "at most",
        "an engine",
        "a connection",
        "a connection in a placement group",
        "a transfer",
        "a descriptor",
        "source",
        "date",
    )
    return NOTE + head + _table(columns, rows)


def _gbps(most: float | None) -> str:
    return "" if most is None else f"{most:g} Gbit/s"


CONDITIONS: dict[DefectCondition, str] = {
    "always": "every deployment",
    "flashinfer_with_windows_on_hopper": "a model with sliding windows and FLASHINFER on H100 or H200",
    "hybrid_model": "a hybrid model",
    "hybrid_model_with_prefix_caching": "a hybrid model with `enable_prefix_caching: true`",
    "hybrid_model_with_prefix_caching_and_speculation": (
        "a hybrid model with `enable_prefix_caching: true` and speculative decoding"
    ),
    "new_cluster_upgrade": "`upgrade.strategy: new_cluster`",
    "other_hand_over": "none here: the hand-over is planned to be without it",
    "prefill_wider_than_decode": "a larger `tensor_parallel` in prefill than in decode, without latent attention",
    "several_kinds_of_cache": "a hybrid model, or one with sliding windows",
    "unequal_sizes_with_windows": "a model with sliding windows and unequal `tensor_parallel`",
}


def known_defects_page() -> str:
    """Return every known defect with the versions that have it."""
    head = (
        "# Known defects\n\n"
        "What others met in the versions that a deployment runs. PD412 reports a defect where the planned version\n"
        "has it and the deployment meets its condition; of a model that is stated without its config.json, sliding\n"
        "windows are not known and count as none. A version is affected from the first that is named up to, and\n"
        "without, the one in which it is fixed. Accept one that is no error by its id, with a reason:\n\n"
        "```text\n"
        "acknowledge:\n"
        "  - code: PD412/vllm-52234\n"
        "    reason: failed hand-overs are watched\n"
        "```\n\n"
    )
    rows = [
        (
            f"`{row.id}`",
            str(row.severity),
            f"{row.component} from {row.first_affected}",
            row.first_fixed or "not known",
            CONDITIONS[row.condition],
            f"{row.title}: {row.effect}",
            row.workaround,
            row.source,
            str(row.date),
        )
        for row in load_catalog().known_defects.values()
    ]
    columns = ("id", "severity", "affected", "fixed in", "met by", "what happens", "what to do", "source", "date")
    return NOTE + head + _table(columns, rows)


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
        + _table(("image", "Ray", "vLLM", "NIXL", "CUDA", "least driver", "source", "date"), images)
        + "\n## Ray and what its extra for language models pins (PD416)\n\n"
        + _table(("Ray", "vLLM", "NIXL", "source", "date"), pins)
        + "\n## CUDA toolkit and driver (PD413)\n\n"
        + _table(("CUDA", "least driver", "source", "date"), cuda)
        + "\n## EKS's machine images and driver (PD219, PD413)\n\n"
        + _table(("machine image", "driver", "also, for GPUs that need it", "source", "date"), amis)
        + f"\nGPUs of which somebody says that they need a newer driver: {_listed(gpus)}.\n"
        + "\n## KubeRay, Kubernetes and Ray (PD404, PD414, PD415)\n\n"
        + _table(("KubeRay", "Kubernetes in its tests", "least Ray", "source", "date"), kuberay)
        + "\n## Kubernetes on EKS (PD402, PD403)\n\n"
        + _table(("Kubernetes", "support", "standard support until", "tested KubeRay", "source", "date"), kubernetes)
    )


def _least_driver(image: ImageRow) -> int | None:
    row = load_catalog().cuda.get(image.cuda_version.partition(".")[0]) if image.cuda_version else None
    return row.least_driver_branch if row else None


def _was_tested(kuberay: KubeRayRow, kubernetes: KubernetesRow) -> bool:
    oldest, newest = kuberay.kubernetes_versions
    return version_key(oldest) <= version_key(kubernetes.version) <= version_key(newest)


def _listed(gpus: dict[str, int]) -> str:
    return ", ".join(f"{name} ({branch})" for name, branch in gpus.items())


def _values(values: dict[str, Any]) -> str:
    shown = json.dumps(values, sort_keys=True)
    types = ", ".join(f'"{name}"' for name in sorted(load_catalog().instances))
    return f"`{shown.replace(types, '<the types of the catalogue and of the specification>')}`" if values else ""


def _fields(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        path = f"{prefix}{name}"
        if field.description:
            yield f"`{path}`", _default(field), field.description
        inner = model_in(field.annotation)
        if inner is not None:
            is_list = "tuple[" in str(field.annotation)
            yield from _fields(inner, f"{path}[]." if is_list else f"{path}.")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    default: Any = field.default
    return "" if default in (None, (), {}) else f"`{json.dumps(default)}`"


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |\n" for line in lines)


PAGES = {
    "add_ons.md": add_ons_page,
    "memory_accuracy.md": memory_accuracy_page,
    "compatibility.md": compatibility_page,
    "known_defects.md": known_defects_page,
    "model_sizes.md": model_sizes_page,
    "rules.md": rules_page,
    "rollout.md": rollout_page,
    "specification.md": specification_page,
    "transfer_paths.md": transfer_paths_page,
}


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
