"""What the planner decides: each default, each change of it, and each refusal."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from constructs_pd import DeploymentPlan, PlanError, Severity, plan
from constructs_pd.planning.deployment_plan import PhasePlan
from support.specs import IMAGE_ROW, VARIANTS, plan_with, spec_with

P5 = {"prefill": {"instance_type": "p5.48xlarge"}, "decode": {"instance_type": "p5.48xlarge"}}


def number(phase: PhasePlan, argument: str) -> int:
    value = phase.engine_arguments[argument]
    assert isinstance(value, int)
    return value


def test_a_phases_pod_takes_its_whole_node(reference_plan: DeploymentPlan) -> None:
    prefill = reference_plan.prefill
    assert (prefill.gpus_per_node, prefill.efa_per_node, prefill.replicas) == (1, 1, 1)
    # 31.85 cores and 118312 MiB allocatable, less 2 cores and 10 GiB for DaemonSets.
    assert (prefill.cpu_cores, prefill.memory_gib) == (29, 105)
    assert prefill.object_store_gib < prefill.shared_memory_gib < prefill.memory_gib


def test_many_gpus_and_adapters_come_from_the_catalogue() -> None:
    decode = plan_with(P5).decode
    assert (decode.gpus_per_node, decode.efa_per_node, decode.tensor_parallel) == (8, 32, 8)
    assert (decode.cpu_cores, decode.memory_gib) == (189, 1882)
    assert decode.accelerator_type == "H100"


@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_labels_of_nodes_are_what_pods_select(reference_plan: DeploymentPlan, phase: str) -> None:
    planned = getattr(reference_plan, phase)
    given_by_kubernetes = {"kubernetes.io/arch": "amd64", "topology.kubernetes.io/zone": "us-west-2a"}
    assert planned.node_selector.items() <= (planned.nodes.labels | given_by_kubernetes).items()
    assert planned.nodes.labels["nvidia.com/gpu.present"] == "true"
    assert planned.pod_labels["constructs-pd/role"] == phase


def test_the_phases_select_different_nodes(reference_plan: DeploymentPlan) -> None:
    prefill, decode = reference_plan.phases
    assert not prefill.node_selector.items() <= decode.nodes.labels.items()
    assert prefill.node_selector != decode.node_selector


def test_a_zone_id_is_selected_by_its_own_label() -> None:
    selector = plan_with({"availability_zone": "usw2-az1"}).decode.node_selector
    assert selector["topology.k8s.aws/zone-id"] == "usw2-az1"
    assert "topology.kubernetes.io/zone" not in selector


def test_the_head_goes_to_system_nodes_or_where_the_user_says() -> None:
    assert plan_with().head.node_selector == {"kubernetes.io/arch": "amd64", "constructs-pd/role": "system"}
    own = plan_with({"head": {"node_selector": {"pool": "cpu"}}}).head.node_selector
    assert own == {"kubernetes.io/arch": "amd64", "pool": "cpu"}


def test_a_pod_has_room_for_one_engine_of_its_own_phase_only() -> None:
    planned = plan_with(P5)
    assert planned.prefill.ray_resources == {"pd-prefill": 8}
    assert planned.decode.ray_resources == {"pd-decode": 8, "pd-ingress": 1}
    assert planned.prefill.ray_bundle == {"GPU": 1, "pd-prefill": 1}
    assert planned.decode.ray_bundle == {"GPU": 1, "pd-decode": 1}


@pytest.mark.parametrize(("replicas", "ingresses"), [(1, 2), (3, 6)])
def test_two_ingress_replicas_per_decode_replica(replicas: int, ingresses: int) -> None:
    planned = plan_with({"decode.replicas": replicas}).serve_ingress
    assert (planned.replicas, planned.cpu_cores) == (ingresses, 1)


def kept_pods(planned: DeploymentPlan) -> dict[str, int]:
    return {budget.name.rpartition("-")[2]: budget.min_available for budget in planned.budgets}


@pytest.mark.parametrize(("replicas", "kept"), [(1, 1), (2, 1), (5, 4)])
def test_a_disruption_leaves_all_pods_but_one_and_at_least_one(replicas: int, kept: int) -> None:
    planned = plan_with({"prefill.replicas": replicas})
    assert kept_pods(planned) == {"head": 1, "prefill": kept, "decode": 1}


@pytest.mark.parametrize(("replicas", "kept"), [(1, {}), (2, {"prefill": 1})])
def test_a_single_pod_can_have_no_budget(replicas: int, kept: dict[str, int]) -> None:
    planned = plan_with({"prefill.replicas": replicas, "single_pod_budget": "none"})
    assert kept_pods(planned) == kept


def test_the_head_can_be_protected_alone() -> None:
    planned = plan_with({"single_pod_budget": "none", "head": {"single_pod_budget": "block"}})
    assert kept_pods(planned) == {"head": 1}


def test_what_is_acknowledged_and_does_not_occur_is_said() -> None:
    reason = {"reason": "because"}
    planned = plan_with({"acknowledge": [{"code": "PD403", **reason}, {"code": "PD115", **reason}]})
    (finding,) = [finding for finding in planned.findings if finding.code == "PD006"]
    assert (finding.severity, finding.subject) == (Severity.WARNING, "acknowledge.0.code")
    assert finding.message == "there are 0 findings of PD403"


def test_one_defect_is_acknowledged_and_others_stay_open() -> None:
    arguments = {"engine_args": {"enable_prefix_caching": True}, "instance_type": "g6e.8xlarge"}
    planned = plan_with({"prefill": arguments, "decode": arguments})
    found = {finding.key: finding.acknowledged for finding in planned.findings if finding.code == "PD412"}
    assert found["PD412/vllm-52234"] is not None
    assert found["PD412/vllm-51113"] is None


def test_a_defect_that_is_acknowledged_and_does_not_occur_is_said() -> None:
    planned = plan_with({"acknowledge": [{"code": "PD412/vllm-50765", "reason": "because"}]})
    (finding,) = [finding for finding in planned.findings if finding.code == "PD006"]
    assert finding.message == "there are 0 findings of PD412/vllm-50765"
    assert {finding.key for finding in planned.findings} >= {"PD412/vllm-52234"}


def test_engine_arguments_of_the_user_come_along() -> None:
    planned = plan_with({"decode.engine_args": {"block_size": 32}, "prefill.engine_args": {"block_size": 32}})
    assert planned.decode.engine_arguments["block_size"] == 32
    assert planned.decode.engine_arguments["max_model_len"] == 1024


def test_labels_of_the_user_stand_beside_those_that_select() -> None:
    planned = plan_with({"labels": {"team": "a"}, "decode.pod": {"labels": {"tier": "b"}}})
    assert planned.labels == {"team": "a", "constructs-pd/deployment": "qwen35-9b"}
    assert planned.decode.pod_labels == {"team": "a", "tier": "b", **planned.decode.selector_labels}
    assert planned.prefill.pod_labels == {"team": "a", **planned.prefill.selector_labels}


def test_the_most_nodes_default_to_the_replicas() -> None:
    planned = plan_with({"decode.replicas": 3, "prefill.max_nodes": 4})
    assert (planned.prefill.nodes.max_nodes, planned.decode.nodes.max_nodes) == (4, 3)


@pytest.mark.parametrize(
    ("strategy", "serve", "pods"),
    [("none", "in_place", "ignored"), ("new_cluster", "second_cluster", "second_cluster")],
)
def test_the_plan_says_what_a_change_of_the_pods_does(strategy: str, serve: str, pods: str) -> None:
    planned = plan_with({"upgrade": {"strategy": strategy}, "prefill.max_nodes": 2, "decode.max_nodes": 2})
    rows = {field: row for row in planned.rollout for field in row.fields}
    assert rows["image"].effects == {"pods": pods}
    nodes = {"nodes": "second_node_group"}
    assert rows["prefill.instance_type"].effects == {"application": serve, "pods": pods, **nodes}
    assert rows["decode.max_num_seqs"].effects == {"application": "in_place"}
    assert rows["decode.max_num_seqs"].change == "the Serve application"


def test_engine_arguments_hold_what_was_said_and_nothing_else() -> None:
    assert plan_with().prefill.engine_arguments == {
        "dtype": "auto",
        "kv_cache_dtype": "auto",
        "max_model_len": 1024,
        "tensor_parallel_size": 1,
        "enforce_eager": True,
        "disable_hybrid_kv_cache_manager": False,
    }
    tuned = plan_with(
        {
            "decode.max_num_seqs": 16,
            "decode.max_num_batched_tokens": 2048,
            "decode.gpu_memory_utilization": 0.95,
        }
    )
    assert tuned.decode.engine_arguments.items() >= {
        ("max_num_seqs", 16),
        ("max_num_batched_tokens", 2048),
        ("gpu_memory_utilization", 0.95),
    }
    assert "max_num_seqs" not in tuned.prefill.engine_arguments


def test_the_context_defaults_to_what_the_model_was_trained_for() -> None:
    planned = plan_with({"model": {"source": "Qwen/Qwen3-0.6B"}})
    assert {phase.engine_arguments["max_model_len"] for phase in planned.phases} == {40960}


def test_or_to_what_fits_the_smaller_of_both_phases() -> None:
    large = {"instance_type": "g6e.8xlarge"}
    one = plan_with({"model.max_model_len": None, "decode": large})
    both = plan_with({"model.max_model_len": None, "prefill": large, "decode": large})
    (short,), (long,) = ({number(phase, "max_model_len") for phase in planned.phases} for planned in (one, both))
    assert 1024 < short < long <= 262144
    assert "PD224" in {finding.code for finding in one.findings}


def test_a_hybrid_models_sequences_are_as_many_as_it_has_blocks_for_with_graphs() -> None:
    tight = {"instance_type": "g6.8xlarge", "gpu_memory_utilization": 0.95}
    planned = plan_with({"prefill": tight, "decode": {**tight, "max_num_seqs": 5}})
    assert 1 <= number(planned.prefill, "max_num_seqs") < 256
    assert planned.decode.engine_arguments["max_num_seqs"] == 5


def test_hybrid_models_get_what_their_hand_over_needs_and_others_do_not() -> None:
    hybrid = plan_with().prefill
    assert hybrid.environment["VLLM_SSM_CONV_STATE_LAYOUT"] == "DS"
    plain = plan_with({"model": {"source": "Qwen/Qwen3-8B"}}).prefill
    assert "VLLM_SSM_CONV_STATE_LAYOUT" not in plain.environment
    assert "disable_hybrid_kv_cache_manager" not in plain.engine_arguments


def test_the_phases_differ_in_role_and_ports() -> None:
    prefill, decode = plan_with().phases
    assert (prefill.kv_role, decode.kv_role) == ("kv_producer", "kv_consumer")
    ranges = [range(p.nixl_side_channel_port, p.nixl_side_channel_port + 8) for p in (prefill, decode)]
    assert not set(ranges[0]) & set(ranges[1])


def test_the_served_name_defaults_to_the_last_part_in_lower_case() -> None:
    assert plan_with({"model.served_name": None}).model.served_name == "qwen3.5-9b"
    assert plan_with({"model.served_name": "mine"}).model.served_name == "mine"


def test_versions_come_from_the_image() -> None:
    versions = plan_with().versions
    assert (versions.ray, versions.vllm, versions.nixl) == ("2.58.0", "0.26.0", "1.3.1")


def test_a_digest_pins_the_image() -> None:
    reference = "763104351884.dkr.ecr.us-west-2.amazonaws.com/ray:serve-llm-cuda-v1.0.0"
    assert plan_with().image == reference
    digest = "sha256:" + "0" * 64
    assert plan_with({"image.digest": digest}).image == f"{reference}@{digest}"


@pytest.mark.parametrize(
    ("changes", "repository"),
    [
        (
            {"region": "eu-south-2", "availability_zone": "eu-south-2a"},
            "503227376785.dkr.ecr.eu-south-2.amazonaws.com/ray",
        ),
        (
            {"region": "cn-north-1", "availability_zone": "cn-north-1a"},
            "727897471807.dkr.ecr.cn-north-1.amazonaws.com.cn/ray",
        ),
        ({"image": {"registry": "public"}}, "public.ecr.aws/deep-learning-containers/ray"),
        (
            {"image": {"tag": "own-1.0.0"}, "custom_images": [IMAGE_ROW]},
            "123456789012.dkr.ecr.us-west-2.amazonaws.com/own",
        ),
    ],
)
def test_the_image_comes_from_the_regions_registry_or_where_the_user_says(
    changes: dict[str, Any], repository: str
) -> None:
    assert plan_with(changes).image.rpartition(":")[0] == repository


def test_the_endpoints_names_and_url() -> None:
    endpoint = plan_with().endpoint
    assert endpoint.service_name == "qwen35-9b"
    assert endpoint.serve_service_name == "qwen35-9b-serve-svc"
    assert endpoint.url == "http://qwen35-9b.inference.svc.cluster.local:8000/v1"
    assert (endpoint.backend_service_name, endpoint.backend_port) == ("qwen35-9b-serve-svc", 8000)
    assert (endpoint.backend_namespace, endpoint.backend_health_path) == ("inference", "/-/healthz")


def test_all_names_fit_for_the_longest_deployment_name() -> None:
    planned = plan_with({"name": "q" * 47})
    assert len(planned.endpoint.serve_service_name) <= 63
    assert len(f"{planned.name}-prefill") <= 63


def test_errors_are_raised_together_in_order_and_warnings_come_with_them() -> None:
    with pytest.raises(PlanError) as caught:
        plan(spec_with({"name": "Q", "decode.instance_type": "x", "acknowledge": None}))
    assert [finding.code for finding in caught.value.findings] == ["PD101", "PD201", "PD115", "PD206", "PD412"]


def test_a_warning_is_kept_with_the_reason_for_accepting_it() -> None:
    reasons = {finding.key: finding.acknowledged for finding in plan_with().findings}
    assert set(reasons) == {"PD115", "PD206", "PD412/vllm-52234"}
    assert (reasons["PD206"] or "").startswith("AWS's own sample")
    assert {finding.acknowledged for finding in plan_with({"acknowledge": None}).findings} == {None}


def test_findings_of_a_plan_are_warnings_only() -> None:
    for changes in VARIANTS.values():
        assert {finding.severity for finding in plan_with(changes).findings} <= {Severity.WARNING}


def test_a_plan_is_frozen_and_the_same_each_time() -> None:
    first, second = plan_with(), plan_with()
    assert first == second
    assert first.model_dump_json() == second.model_dump_json()
    with pytest.raises(ValidationError, match="frozen"):
        first.name = "other"


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_every_variant_plans(changes: dict[str, Any]) -> None:
    assert plan_with(changes).name
