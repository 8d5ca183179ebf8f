"""Engines of several GPUs on p5 and p6, and nodes bought in each way: what the live pods have of their nodes.

All are there at once, each with two decode nodes beside nodes with twice the room that its pods may not take.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest

from cluster.conftest import RUN
from cluster.control_plane import ControlPlane
from cluster.deployment import Deployment, deployment_of, is_head, remove_all
from cluster.problems import problems
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.spec_nodes import Capacity
from support.ec2 import described
from support.specs import plan_with, reserved
from support.template import launch_template, node_group

Changes = dict[str, Any]
PLAIN: Changes = {"model": {"source": "Qwen/Qwen3-8B"}, "model_cache": None, "decode.replicas": 2}


def of_types(prefill: str, decode: str, prefill_gpus: int | None = None, decode_gpus: int | None = None) -> Changes:
    """Return the changes for instance types and GPUs of an engine; without a number, all of the node."""
    return {
        **PLAIN,
        "prefill.instance_type": prefill,
        "decode.instance_type": decode,
        "prefill.tensor_parallel": prefill_gpus,
        "decode.tensor_parallel": decode_gpus,
    }


CASES: dict[str, Changes] = {
    "p5, all GPUs": of_types("p5.48xlarge", "p5.48xlarge"),
    "p5, 2 and 4 GPUs": of_types("p5.48xlarge", "p5.48xlarge", 2, 4),
    "p5, one GPU and all": of_types("p5.4xlarge", "p5.48xlarge"),
    "p5e, in a reservation": of_types("p5e.48xlarge", "p5e.48xlarge", 4, 4) | reserved("decode"),
    "p5en, in a Capacity Block": {
        **of_types("p5en.48xlarge", "p5en.48xlarge"),
        **reserved("prefill", "capacity_block"),
        **reserved("decode", "capacity_block"),
    },
    "p6-b200, 4 GPUs and all, one phase in a Capacity Block": {
        **of_types("p6-b200.48xlarge", "p6-b200.48xlarge", 4),
        **reserved("decode", "capacity_block"),
    },
    "p6-b300, all GPUs, in a reservation": {
        **of_types("p6-b300.48xlarge", "p6-b300.48xlarge"),
        **reserved("prefill"),
        **reserved("decode"),
    },
    "p5 with one GPU, p5en with all": of_types("p5.48xlarge", "p5en.48xlarge", 1, 8),
}
Cases = dict[str, Deployment]


@pytest.fixture(scope="module")
def cases(live: ControlPlane) -> Iterator[Cases]:
    """Every case, bound."""
    live.kubectl.warnings.clear()
    names = {name: f"hardware-{RUN}-{number}" for number, name in enumerate(CASES)}
    made = {
        name: deployment_of(plan_with({**changes, "name": names[name], "namespace": names[name]}), live)
        for name, changes in CASES.items()
    }
    try:
        first, *_ = made.values()
        first.nodes = [node for each in made.values() for node in each.planned_nodes()]
        first.register_nodes(tempting=True)  # all at once, which is faster
        for each in made.values():
            each.apply()
        for each in made.values():
            each.wait_for_pods()
        yield made
    finally:
        remove_all(made.values())


@pytest.mark.parametrize("case", CASES)
def test_every_pod_has_its_node_and_nobody_warns(cases: Cases, case: str) -> None:
    assert problems(cases[case]) == []


@pytest.mark.parametrize("case", CASES)
def test_a_worker_has_every_gpu_and_adapter_that_ec2_says_its_node_has(cases: Cases, case: str) -> None:
    deployment = cases[case]
    for phase in deployment.plan.phases:
        instance = described()[phase.nodes.instance_type]
        whole = {
            "nvidia.com/gpu": str(instance["GpuInfo"]["Gpus"][0]["Count"]),
            "vpc.amazonaws.com/efa": str(instance["NetworkInfo"]["EfaInfo"]["MaximumEfaInterfaces"]),
        }
        pods = _workers(deployment, phase.name)
        assert len(pods) == phase.replicas
        for pod in pods:
            (container,) = pod["spec"]["containers"]
            assert {name: container["resources"]["limits"][name] for name in whole} == whole
            assert pod["status"]["qosClass"] == "Guaranteed"


@pytest.mark.parametrize("case", CASES)
def test_the_operator_starts_ray_with_what_the_plan_places_engines_by(cases: Cases, case: str) -> None:
    deployment = cases[case]
    for phase in deployment.plan.phases:
        for pod in _workers(deployment, phase.name):
            command = " ".join(pod["spec"]["containers"][0]["args"])
            assert re.findall(r"--num-gpus=(\d+)", command) == [str(phase.gpus_per_node)]
            assert re.findall(r"--num-cpus=(\d+)", command) == [str(phase.cpu_cores)]
            (resources,) = re.findall(r"--resources=(?:'|\")?(\{.*?\})", command.replace("\\", ""))
            assert json.loads(resources) == phase.ray_resources
            engines = CASES[case].get(f"{phase.name}.tensor_parallel") or phase.gpus_per_node
            assert phase.ray_resources[f"pd-{phase.name}"] == engines
    (head,) = [pod for pod in deployment.pods() if is_head(pod)]
    assert "--num-gpus=0" in " ".join(head["spec"]["containers"][0]["args"])


def test_the_cases_have_every_capacity_type_and_every_p5_and_p6() -> None:
    plans = [plan_with({**changes, "name": "case"}) for changes in CASES.values()]
    phases = [phase for plan in plans for phase in plan.phases]
    stated = {value for changes in CASES.values() for path, value in changes.items() if path.endswith(".capacity")}
    assert stated | {"on_demand"} == set(get_args(Capacity))
    types = {name for name in load_catalog().instances if name.startswith(("p5", "p6"))}
    assert {phase.nodes.instance_type for phase in phases} == types
    assert len(types) == 6


def test_the_template_buys_as_the_case_says(cases: Cases) -> None:
    bought = {
        case: [node_group(deployment.template, phase).get("CapacityType") for phase in ("prefill", "decode")]
        for case, deployment in cases.items()
    }
    assert bought["p5, all GPUs"] == bought["p5e, in a reservation"] == ["ON_DEMAND", "ON_DEMAND"]
    assert bought["p5en, in a Capacity Block"] == ["CAPACITY_BLOCK", "CAPACITY_BLOCK"]
    assert bought["p6-b200, 4 GPUs and all, one phase in a Capacity Block"] == ["ON_DEMAND", "CAPACITY_BLOCK"]
    for case, deployment in cases.items():
        for phase in ("prefill", "decode"):
            target = launch_template(deployment.template, phase).get("CapacityReservationSpecification")
            stated = CASES[case].get(f"{phase}.reservation")
            named = {"CapacityReservationTarget": {"CapacityReservationId": stated["id"]}} if stated else None
            assert target == named, (case, phase)


def _workers(deployment: Deployment, phase: str) -> list[dict[str, Any]]:
    return [pod for pod in deployment.pods() if pod["metadata"]["labels"]["ray.io/group"] == phase]
