"""Specifications that plan: every field of `DeploymentSpec`, over the values that the planner permits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import strategies as st

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.catalog.rows import InstanceRow, ModelRow
from constructs_pd.planning.facts import gather
from constructs_pd.planning.fit import most_sequences, settled
from constructs_pd.planning.footprint import footprint
from constructs_pd.planning.gpu_memory import GIB
from constructs_pd.planning.models.blocks import broken_blocks
from constructs_pd.planning.rules.pd310_dtype import types_of
from constructs_pd.planning.spec import DeploymentSpec
from constructs_pd.planning.zones import zone_id_prefix
from support import strategies_text as text
from support.strategies import sometimes, specifications, without_none
from support.strategies_cluster import MOST_HEAD_GIB, MOST_NODES, Surroundings, new_clusters, takes
from support.strategies_endpoint import drains, endpoints
from support.strategies_gateway import without_gateway_that_has_no_room
from support.strategies_monitoring import monitoring, promises, with_a_ttft_that_can_be_divided
from support.strategies_observability import logs, tracings
from support.strategies_policies import network_policies
from support.strategies_rows import CATALOG, MOVING_TAGS, image_rows, instance_rows, model_rows

_STOCK_DRIVER_BRANCH = CATALOG.amis["AL2023_x86_64_NVIDIA"].driver_branch
_NEW_DRIVER_BRANCH = max(row.gpu.driver_branch or 0 for row in CATALOG.instances.values())
_GOVERNMENT_REGION = "us-gov-west-1"  # the catalogue knows no private registry there
_DEFAULT_KUBERNETES = "1.35"
_OLDER_GPUS = ("A10G", "A100")  # before FP8
_PLAIN_CACHE_TYPES = (None, "auto", "bfloat16")
_CACHE_TYPES = (*_PLAIN_CACHE_TYPES, "fp8", "fp8_e4m3", "fp8_e5m2")
_WARNINGS = (
    *(
        "PD115",
        "PD129",
        "PD131",
        "PD144",
        "PD156",
        "PD157",
        "PD158",
        "PD161",
        "PD165",
        "PD172",
        "PD175",
        "PD176",
        "PD194",
        "PD195",
        "PD204",
        "PD206",
        "PD212",
        "PD224",
        "PD225",
        "PD227",
        "PD228",
        "PD232",
        "PD233",
        "PD234",
        "PD235",
        "PD236",
        "PD403",
        "PD408",
    ),
    *("PD410", "PD412/vllm-52234"),
)
# What a deployment in a cluster that exists may have at most.
_MOST_NODES = 2000
_MOST_HEAD_GIB = 512
# Weights beyond this share of a GPU leave no room on the smallest ones.
_MOST_WEIGHTS = 0.6
# What a phase may state so that its requests no longer fit.
_TUNING = {"gpu_memory_utilization", "max_num_seqs", "max_num_batched_tokens", "concurrent_requests"}

# Arguments that both phases must have alike, and those that each may have for itself.
_SHARED_ENGINE_ARGS: dict[str, st.SearchStrategy[Any]] = {
    "block_size": st.sampled_from([16, 32, 64, 128]),
    "hf_overrides": st.just({"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}),
    "load_format": st.just("safetensors"),
    "tokenizer_mode": st.sampled_from(["auto", "mistral"]),
    "trust_remote_code": st.booleans(),
}
_OWN_ENGINE_ARGS: dict[str, st.SearchStrategy[Any]] = {
    "cudagraph_capture_sizes": st.lists(st.integers(1, 512), min_size=1, max_size=4, unique=True).map(sorted),
    "enable_auto_tool_choice": st.booleans(),
    "limit_mm_per_prompt": st.just({"image": 0, "video": 0}),
    "max_logprobs": st.integers(1, 100),
    "reasoning_parser": st.just("qwen3"),
    "seed": st.integers(0, 2**32 - 1),
    "stream_interval": st.integers(1, 16),
    "tool_call_parser": st.just("hermes"),
    "uvicorn_log_level": st.sampled_from(["info", "warning"]),
}


def _stated(**fields: Any) -> dict[str, Any]:
    return without_none(fields)


@dataclass(frozen=True)
class _Instance:
    """What the choice of the other values depends on."""

    name: str
    gpu: str
    gpus: int
    needs_own_image: bool
    in_capacity_blocks: bool
    usable_gib: float | None

    @classmethod
    def of(cls, row: InstanceRow) -> _Instance:
        return cls(
            row.instance_type,
            row.gpu.name,
            row.gpu.count,
            needs_own_image=(row.gpu.driver_branch or 0) > _STOCK_DRIVER_BRANCH,
            in_capacity_blocks=row.capacity_blocks is True,
            usable_gib=memory.usable_gib if (memory := CATALOG.memory_of(row.gpu)) else None,
        )


@dataclass(frozen=True)
class _Model:
    """A model that may be served, with the facts of its row."""

    source: str
    hybrid: bool
    heads: int
    kv_heads: int
    context: int
    gated: bool
    row: ModelRow

    def fits(self, instance: _Instance, gpus: int) -> bool:
        """Return whether the weights leave room, or nobody knows how large they or the GPUs are."""
        size = _weights(self.row, gpus)
        return instance.usable_gib is None or size is None or size < _MOST_WEIGHTS * instance.usable_gib * GIB

    def splits_over(self, size: int) -> bool:
        if self.heads % size or (self.kv_heads % size and size % self.kv_heads):
            return False
        return self.row.facts is None or not broken_blocks(self.row.facts, size)

    def permits(self, prefill: int, decode: int) -> bool:
        if not (self.splits_over(prefill) and self.splits_over(decode)):
            return False
        is_larger_prefill_whole = prefill % decode == 0 and prefill <= self.kv_heads
        return prefill == decode or (not self.hybrid and (decode % prefill == 0 or is_larger_prefill_whole))


def pods() -> st.SearchStrategy[dict[str, Any]]:
    """Return what a user adds to pods; a variable is literal or from a Secret, not both."""
    return st.fixed_dictionaries(
        {},
        optional={
            "environment": text.few(text.variables, text.free_text),
            "secret_environment": text.few(text.secret_variables, text.secret_references),
            "labels": text.few(text.label_keys, text.label_values),
            "annotations": text.few(text.label_keys, text.free_text),
            "priority_class": text.object_names,
        },
    ).filter(lambda pod: not set(pod.get("environment", ())) & set(pod.get("secret_environment", ())))


budgets = st.sampled_from(["block", "none"])


def _heads(most_memory_gib: int) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {},
        optional={
            "node_selector": st.dictionaries(text.label_keys, text.label_values, min_size=1, max_size=3),
            "tolerations": st.lists(
                st.fixed_dictionaries(
                    {"key": text.label_keys},
                    optional={
                        "value": sometimes(text.label_values),
                        "effect": st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule"]),
                    },
                ),
                max_size=3,
            ),
            "memory_gib": st.integers(4, most_memory_gib),
            "single_pod_budget": budgets,
            "pod": pods(),
        },
    )


_redis_addresses = st.tuples(
    st.sampled_from(["", "redis://", "rediss://"]),
    st.sampled_from(["redis", "redis.cache", "master.own.abc123.usw2.cache.amazonaws.com", "10.0.0.7"]),
    st.integers(1, 65535),
).map(lambda parts: f"{parts[0]}{parts[1]}:{parts[2]}")


def _redis(rollover: bool) -> st.SearchStrategy[dict[str, Any]]:
    """Return what keeps Ray's state; two clusters of an upgrade do not share the name under which it lies."""
    return st.fixed_dictionaries(
        {"redis_address": _redis_addresses},
        optional={"redis_username": text.secret_references, "redis_password": text.secret_references}
        | ({} if rollover else {"storage_namespace": text.label_values}),
    )


@st.composite
def _engine_args(draw: st.DrawFn, known: dict[str, st.SearchStrategy[Any]]) -> dict[str, Any]:
    names = draw(st.lists(st.sampled_from(sorted(known)), max_size=4, unique=True))
    return {name: draw(known[name]) for name in names}


nodes = st.fixed_dictionaries(
    {},
    optional={
        "placement_group": st.sampled_from(["cluster", "none"]),
        "vpc_cni_role": st.sampled_from(["node", "own"]),
        "tags": st.dictionaries(text.tag_keys, text.tag_values, max_size=40).filter(
            lambda tags: len({key.lower() for key in tags}) == len(tags)
        ),
    },
)


@st.composite
def _bought(draw: st.DrawFn, instance: _Instance, phase: dict[str, Any], zone: str, number: int) -> dict[str, Any]:
    """Return how nodes are bought, with a reservation of the phase's own where they are reserved."""
    # Few types are sold in blocks, so those that are often are.
    blocks = ["capacity_block"] * 3 if instance.in_capacity_blocks else []
    capacity = draw(st.sampled_from([None, "on_demand", "reservation", *blocks]))
    if capacity in (None, "on_demand"):
        return _stated(capacity=capacity)
    needed = phase.get("max_nodes", phase["replicas"])
    reservation = _stated(
        id=f"cr-{draw(st.integers(0, 16**16 - 1)):016x}{number}",
        availability_zone=zone,
        instance_count=draw(st.integers(needed, needed + 8)),
        placement_group=draw(sometimes(text.placement_groups)),
    )
    return {"capacity": capacity, "reservation": reservation}


@st.composite
def _phase(
    draw: st.DrawFn, instance: _Instance, tensor_parallel: int, context: int | None, rollover: bool, most_nodes: int
) -> dict[str, Any]:
    # Rarely as many as are permitted: each is a node of its own to every validator.
    replicas = draw(st.integers(1, most_nodes // 2 if draw(st.integers(0, 39)) == 17 else 6))
    fewest = 2 * replicas if rollover else replicas
    requests = draw(sometimes(st.integers(1, 32)))
    fewest_at_once = requests or 1
    sequences = draw(sometimes(st.integers(fewest_at_once, 1024)))
    tokens = draw(sometimes(st.integers(fewest_at_once, 65536)))
    if tokens is not None and sequences is not None:
        tokens = max(tokens, sequences)
    engine_args = draw(_engine_args(_OWN_ENGINE_ARGS))
    if tokens is not None and context is not None and tokens >= context:
        engine_args |= {"enable_chunked_prefill": draw(st.booleans())}
    ami_id = draw(text.ami_ids if instance.needs_own_image else sometimes(text.ami_ids))
    return _stated(
        instance_type=instance.name,
        replicas=replicas,
        concurrent_requests=requests,
        tensor_parallel=tensor_parallel if tensor_parallel < instance.gpus or draw(st.booleans()) else None,
        max_num_seqs=sequences,
        max_num_batched_tokens=tokens,
        gpu_memory_utilization=draw(sometimes(st.floats(0.05, 0.98))),
        enforce_eager=draw(sometimes(st.booleans())),
        engine_args=engine_args,
        min_nodes=draw(sometimes(st.integers(0, replicas))),
        root_volume_gib=draw(sometimes(st.integers(100, 16384))),
        ami_id=ami_id,
        ami_driver_branch=draw(sometimes(st.integers(_NEW_DRIVER_BRANCH, 999))) if ami_id is not None else None,
        max_nodes=draw(st.integers(fewest, most_nodes) if rollover else sometimes(st.integers(fewest, most_nodes))),
        pod=draw(sometimes(pods())),
        single_pod_budget=draw(sometimes(budgets)),
    )


@st.composite
def sound_specifications(draw: st.DrawFn) -> dict[str, Any]:
    """Return specifications that plan, of every shape that a plan can have.

    The engines of both phases run on GPUs of one kind, or state the attention backend that both use.
    """
    custom_instances = draw(st.lists(instance_rows(), max_size=2, unique_by=lambda row: str(row["instance_type"])))
    custom_models = draw(st.lists(model_rows(), max_size=2, unique_by=lambda row: str(row["model"])))
    custom_images = draw(st.lists(image_rows(), max_size=2, unique_by=lambda row: str(row["tag"])))

    prefill, decode = draw(_instances(custom_instances))
    model, sizes = draw(_models(custom_models, prefill, decode))
    shared_args = draw(_engine_args(_SHARED_ENGINE_ARGS))
    if prefill.gpu != decode.gpu or draw(st.integers(0, 3)) == 0:
        shared_args["attention_backend"] = draw(st.sampled_from(["FLASH_ATTN", "FLASHINFER"]))
    fp8 = prefill.gpu == decode.gpu and prefill.gpu not in _OLDER_GPUS and "attention_backend" not in shared_args
    context = draw(sometimes(st.integers(1, model.context)))
    size = draw(st.sampled_from(sizes))
    strategy = draw(sometimes(st.sampled_from(["none", "new_cluster"])))
    makes_cluster = draw(st.sampled_from([False, True, True]))
    most_nodes = MOST_NODES if makes_cluster else _MOST_NODES
    phases = [
        draw(_phase(instance, tensor_parallel, context, strategy == "new_cluster", most_nodes))
        for instance, tensor_parallel in zip((prefill, decode), size, strict=True)
    ]
    for phase in phases:
        phase["engine_args"] |= shared_args
    places = _places([prefill.name, decode.name], custom_instances)
    region, zone = draw(st.sampled_from([place for place in places if takes(place[1]) or not makes_cluster]))
    for number, (instance, phase) in enumerate(zip((prefill, decode), phases, strict=True)):
        phase |= draw(_bought(instance, phase, zone, number))
    kubernetes = draw(sometimes(st.sampled_from(sorted(CATALOG.kubernetes))))
    groups = draw(nodes)
    if not all("ami_id" in phase for phase in phases) and draw(st.booleans()):
        groups |= {"ami_release_version": f"{kubernetes or _DEFAULT_KUBERNETES}.{draw(st.integers(0, 20))}-20261101"}
    head = draw(_heads(MOST_HEAD_GIB if makes_cluster else _MOST_HEAD_GIB))
    cache = draw(sometimes(_caches(makes_cluster)))
    endpoint = draw(sometimes(endpoints(region)))
    if makes_cluster and endpoint is not None:
        endpoint.pop("subnet_ids", None)  # there are none yet
    redis = draw(sometimes(_redis(strategy == "new_cluster")))
    watched = draw(sometimes(monitoring()))
    tracing = draw(sometimes(tracings))
    makes_file_system = cache is not None and cache.get("storage") == "efs"
    around = Surroundings(
        region,
        zone,
        _most_nodes(phases),
        head.get("memory_gib", 8),
        makes_file_system,
        kubernetes or _DEFAULT_KUBERNETES,
    )
    stated = _stated(
        name=draw(text.deployment_names),
        namespace=draw(sometimes(text.namespaces)),
        region=region,
        availability_zone=zone,
        model=_stated(
            source=model.source,
            served_name=draw(sometimes(text.served_names)),
            max_model_len=context,
            dtype=draw(sometimes(st.sampled_from(["auto", *types_of(model.row)]))),
            kv_cache_dtype=draw(st.sampled_from(_CACHE_TYPES if fp8 else _PLAIN_CACHE_TYPES)),
        ),
        prefill=phases[0],
        decode=phases[1],
        head=head,
        nodes=groups,
        endpoint=endpoint,
        eks_cluster=draw(new_clusters(around)) if makes_cluster else None,
        image=draw(_images(custom_images, region)),
        kubernetes_version=kubernetes,
        kuberay_version=draw(sometimes(st.sampled_from(sorted(CATALOG.kuberay)))),
        hugging_face_token=draw(text.secret_references if model.gated else sometimes(text.secret_references)),
        model_cache=cache,
        gcs_fault_tolerance=redis,
        network_policy=draw(
            sometimes(
                network_policies(makes_cluster, endpoint or {}, cache, redis, tracing, is_monitored=watched is not None)
            )
        ),
        monitoring=watched,
        slo=draw(sometimes(promises())) if watched is not None and watched["rules"] else None,
        tracing=tracing,
        logs=draw(sometimes(logs)),
        ray_authentication=draw(sometimes(st.sampled_from(["none", "token"]))),
        traffic=draw(_traffic(context)),
        upgrade=_stated(strategy=strategy),
        single_pod_budget=draw(sometimes(budgets)),
        privileged_workers=draw(sometimes(st.booleans())),
        initializing_timeout_seconds=draw(sometimes(st.integers(1800, 604_800))),
        labels=draw(sometimes(text.few(text.label_keys, text.label_values))),
        service_account_annotations=draw(sometimes(text.few(text.label_keys, text.free_text))),
        drain_seconds=draw(drains(endpoint)),
        acknowledge=draw(st.lists(st.sampled_from(_WARNINGS), unique=True, max_size=3).map(_acknowledged)),
        custom_instances=custom_instances,
        custom_models=custom_models,
        custom_images=custom_images,
    )
    return with_a_ttft_that_can_be_divided(_made_to_fit(without_gateway_that_has_no_room(stated)))


def _made_to_fit(data: dict[str, Any]) -> dict[str, Any]:
    """Return a specification whose requests fit: without what stands in their way, and with less context."""
    for _ in range(2):
        facts = gather(DeploymentSpec.model_validate(data), load_catalog())
        for phase in facts.phases:
            found = settled(facts, phase)
            if found is None:
                continue
            if found.requests >= phase.spec.concurrent_requests and (phase.spec.max_num_seqs or 0) <= most_sequences(
                found
            ):
                continue
            if _TUNING & data[phase.name].keys():
                data[phase.name] = {name: value for name, value in data[phase.name].items() if name not in _TUNING}
                data[phase.name]["engine_args"].pop("enable_chunked_prefill", None)
            elif found.longest(1):
                data["model"]["max_model_len"] = found.longest(1)
                if data.get("traffic", {}).get("prompt_tokens", 0) >= found.longest(1):
                    del data["traffic"]
    return data


def _traffic(context: int | None) -> st.SearchStrategy[dict[str, Any] | None]:
    """Return so few requests that any pair of engines carries them; a context of one token has room for none."""
    # A context that is not stated is 16 tokens at least.
    longest = 15 if context is None else context - 1
    if longest < 1:
        return st.none()
    return sometimes(
        st.fixed_dictionaries(
            {"requests_per_second": st.floats(1e-6, 1e-3), "prompt_tokens": st.integers(1, longest)},
            optional={
                # Whoever states it has a latency predicted, which takes longer than the rest of a plan.
                "output_tokens": sometimes(st.integers(1, 2000)),
                "prompt_variation": st.floats(0, 3),
                "cached_prompt_fraction": st.floats(0, 0.99),
            },
        )
    ).map(lambda traffic: traffic and without_none(traffic))


def _most_nodes(phases: list[dict[str, Any]]) -> int:
    return sum(phase.get("max_nodes", phase["replicas"]) for phase in phases)


def _caches(makes_cluster: bool) -> st.SearchStrategy[dict[str, Any]]:
    """Return shared volumes; a file system is made beside a new cluster only."""
    # A new cluster with a cache is rare enough, so most such caches are made too.
    storage = {"storage": st.sampled_from(["existing", "efs", "efs", "efs"] if makes_cluster else ["existing"])}
    return st.fixed_dictionaries(
        {"claim_name": text.object_names} | (storage if makes_cluster else {}),
        optional={"mount_path": text.paths} | ({} if makes_cluster else storage),
    )


def _acknowledged(codes: list[str]) -> list[dict[str, str]]:
    return [{"code": code, "reason": "it is meant"} for code in codes]


@st.composite
def _instances(draw: st.DrawFn, custom: list[dict[str, Any]]) -> tuple[_Instance, _Instance]:
    """Return the instances of both phases: mostly of one kind of GPU."""
    rows = {name: _Instance.of(row) for name, row in CATALOG.instances.items()}
    own = {row["instance_type"]: _Instance.of(InstanceRow.model_validate(row)) for row in custom}
    known = list({**rows, **own}.values())
    from_own = draw(st.booleans())
    first = list(own.values()) if own and from_own else known
    prefill = draw(st.sampled_from(first))
    alike = [instance for instance in known if instance.gpu == prefill.gpu]
    second = known if draw(st.integers(0, 3)) == 0 else alike
    return prefill, draw(st.sampled_from(second))


@st.composite
def _models(
    draw: st.DrawFn, custom: list[dict[str, Any]], prefill: _Instance, decode: _Instance
) -> tuple[_Model, list[tuple[int, int]]]:
    """Return a model that both phases can hold, and the tensor parallel sizes with which they can."""
    own = [ModelRow.model_validate(row) for row in custom]
    known = {
        row.model: _Model(
            row.model,
            row.attention == "hybrid",
            row.attention_heads,
            row.kv_heads,
            row.max_position_embeddings,
            row.gated,
            row,
        )
        for row in [*CATALOG.models.values(), *own]
    }
    sizes = {name: list(_sizes(model, prefill, decode)) for name, model in known.items()}
    named = [row.model for row in own if sizes[row.model]]
    every = st.sampled_from([name for name in known if sizes[name]])
    name = draw(st.sampled_from(named) | every if named else every)
    return known[name], sizes[name]


def _sizes(model: _Model, prefill: _Instance, decode: _Instance) -> Iterator[tuple[int, int]]:
    lefts = [gpus for gpus in range(1, prefill.gpus + 1) if model.splits_over(gpus) and model.fits(prefill, gpus)]
    rights = [gpus for gpus in range(1, decode.gpus + 1) if model.splits_over(gpus) and model.fits(decode, gpus)]
    return ((left, right) for left in lefts for right in rights if model.permits(left, right))


@cache
def _known_weights(model: str, gpus: int) -> int | None:
    size = footprint(CATALOG.models[model], gpus)
    return size.weight_bytes if size else None


def _weights(row: ModelRow, gpus: int) -> int | None:
    if row is CATALOG.models.get(row.model):
        return _known_weights(row.model, gpus)
    size = footprint(row, gpus)
    return size.weight_bytes if size else None


def _places(names: list[str], custom: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the regions and zones, by name and by id, that offer both types or of which nobody says."""
    asked = {name for name in names if name not in {row["instance_type"] for row in custom}}
    places = []
    for region in [*CATALOG.registries, _GOVERNMENT_REGION]:
        row = CATALOG.offerings.get(region)
        named = [f"{region}{letter}" for letter in "abcdef"]
        known = row.zones if row else {f"{zone_id_prefix(region)}-az{number}": asked for number in range(1, 7)}
        offering = [zone for zone, types in known.items() if asked <= types]
        places += [(region, zone) for zone in [*offering, *(named if offering else [])]]
    return places


@st.composite
def _images(draw: st.DrawFn, custom: list[dict[str, Any]], region: str) -> dict[str, Any]:
    """Return an image with known versions; one without a version in its tag has a digest."""
    row = draw(sometimes(st.sampled_from(custom))) if custom else None
    moves = row is not None and row["tag"] in MOVING_TAGS
    return _stated(
        registry="public" if region == _GOVERNMENT_REGION else draw(sometimes(st.sampled_from(["private", "public"]))),
        tag=row["tag"] if row else None,
        digest=draw(text.digests if moves else sometimes(text.digests)),
        pull_secrets=draw(sometimes(st.lists(text.object_names, max_size=3, unique=True))),
    )


@st.composite
def mixed_specifications(draw: st.DrawFn) -> dict[str, Any]:
    """Return sound specifications with up to three fields from hostile ones; some of them still plan."""
    sound, hostile = draw(sound_specifications()), draw(specifications)
    fields = draw(st.lists(st.sampled_from(sorted(hostile)), min_size=1, max_size=3, unique=True))
    return sound | {name: hostile[name] for name in fields}
