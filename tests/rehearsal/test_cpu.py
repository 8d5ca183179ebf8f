"""The transformation changes what the documentation lists and nothing else, and Ray accepts what it makes."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

import pytest
import yaml

from constructs_pd import DeploymentPlan
from constructs_pd.manifests.serve_config import serve_config_v2
from constructs_pd.rehearsal.cpu import CHANGES, Machine, aggregated, llm_config, on_this_machine
from constructs_pd.rehearsal.faults import FAULTS
from readers import ray_serve
from support.specs import ROOT, plan_with

MACHINES = {
    "mock": Machine(18000, {"prefill": 21000, "decode": 21064}, None),
    "vllm": Machine(18000, {"prefill": 21000, "decode": 21064}, "/tmp/pd-1/model"),
}
PLANS: dict[str, dict[str, Any]] = {
    "reference": {},
    "several": {"prefill.replicas": 2, "decode.replicas": 3},
    "arguments": {
        "prefill.engine_args": {"reasoning_parser": "qwen3", "attention_backend": "FLASHINFER", "block_size": 32},
        "decode.engine_args": {
            "limit_mm_per_prompt": {"image": 0},
            "attention_backend": "FLASHINFER",
            "block_size": 32,
        },
    },
}
PAGE = (ROOT / "docs" / "rehearsal.md").read_text(encoding="utf-8")


def planned(name: str) -> DeploymentPlan:
    return plan_with(PLANS[name])


def flat(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, dict) and value:
        return {key: item for name, each in value.items() for key, item in flat(each, f"{path}.{name}").items()}
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return {key: item for index, each in enumerate(value) for key, item in flat(each, f"{path}.{index}").items()}
    return {path.removeprefix("."): value}


def generic(path: str) -> str:
    return re.sub(r"^applications\.0\.args\.(prefill|decode)_config", "PHASE", path)


@pytest.mark.parametrize("engine", MACHINES)
@pytest.mark.parametrize("name", PLANS)
def test_nothing_changes_but_what_is_listed(name: str, engine: str) -> None:
    document = yaml.safe_load(serve_config_v2(planned(name)))
    before, after = flat(document), flat(on_this_machine(document, MACHINES[engine]))
    differ = {path for path in before.keys() | after.keys() if before.get(path, ...) != after.get(path, ...)}
    listed = {change.path for change in CHANGES if engine in change.engines}
    unlisted = {
        path for path in map(generic, differ) if not any(path == own or path.startswith(f"{own}.") for own in listed)
    }
    assert unlisted == set()
    assert {"http_options.host", "http_options.port"} <= set(map(generic, differ))


def test_every_listed_change_is_made() -> None:
    arguments = {
        change.path.rpartition(".")[2]: "x"
        for change in CHANGES
        if change.path.startswith("PHASE.engine_kwargs.") and change.path.count(".") == 2
    }
    document = yaml.safe_load(serve_config_v2(planned("reference")))
    llm_config(document, "prefill")["engine_kwargs"] |= arguments
    after = llm_config(on_this_machine(document, MACHINES["vllm"]), "prefill")["engine_kwargs"]
    assert after["enforce_eager"] is True
    assert set(arguments) & set(after) == {"enforce_eager"}


def test_the_page_lists_every_change() -> None:
    table = PAGE.split("| key | with | becomes | why |\n")[1].split("\n\n")[0].splitlines()[1:]
    rows = {tuple(cell.strip() for cell in line.strip("|").split("|")) for line in table}
    expected = {(f"`{change.path}`", " and ".join(change.engines), change.becomes, change.reason) for change in CHANGES}
    assert rows == expected


@pytest.mark.parametrize("name", PLANS)
def test_the_original_stays_as_it_is(name: str) -> None:
    document = yaml.safe_load(serve_config_v2(planned(name)))
    before = deepcopy(document)
    aggregated(on_this_machine(document, MACHINES["vllm"]))
    for fault in FAULTS.values():
        fault(document)
    assert document == before


@pytest.mark.parametrize("engine", MACHINES)
@pytest.mark.parametrize("name", PLANS)
def test_ray_accepts_what_it_makes_and_places_it_by_the_same_resources(name: str, engine: str) -> None:
    document = yaml.safe_load(serve_config_v2(planned(name)))
    changed = on_this_machine(document, MACHINES[engine])
    assert ray_serve.unknown_keys(changed) == []
    for before, after in zip(ray_serve.build(document), ray_serve.build(changed), strict=True):
        assert (after.name, after.num_replicas) == (before.name, before.num_replicas)
        assert after.placement_strategy == before.placement_strategy
        assert [custom(bundle) for bundle in after.bundles] == [custom(bundle) for bundle in before.bundles]
        if engine == "vllm":
            assert not any(bundle.get("GPU") for bundle in after.bundles)


def custom(bundle: dict[str, float]) -> dict[str, float]:
    return {name: amount for name, amount in bundle.items() if name.startswith("pd-")}


@pytest.mark.parametrize("engine", MACHINES)
def test_the_aggregated_engine_is_prefills_without_a_hand_over(engine: str) -> None:
    changed = on_this_machine(yaml.safe_load(serve_config_v2(planned("several"))), MACHINES[engine])
    plain = aggregated(changed)
    server, ingress = ray_serve.build(plain)
    assert (server.num_replicas, ingress.is_ingress) == (1, True)
    assert [custom(bundle) for bundle in server.bundles] == [{"pd-prefill": 1}]
    (config,) = plain["applications"][0]["args"]["llm_configs"]
    prefill = llm_config(changed, "prefill")["engine_kwargs"]
    assert config["engine_kwargs"] == {key: value for key, value in prefill.items() if key != "kv_transfer_config"}


def test_the_faults_are_what_they_say() -> None:
    document = on_this_machine(yaml.safe_load(serve_config_v2(planned("reference"))), MACHINES["vllm"])
    misspelled = llm_config(FAULTS["phase-resource"](document), "prefill")
    assert misspelled["placement_group_config"]["bundle_per_worker"] == {"CPU": 1, "pd-prefil": 1}
    swapped = FAULTS["kv-role"](document)
    role = llm_config(swapped, "prefill")["engine_kwargs"]["kv_transfer_config"]["kv_role"]
    assert role == "kv_consumer"
    wrong = FAULTS["corrupt-answer"](document)
    assert llm_config(wrong, "decode")["engine_kwargs"]["load_format"] == "dummy"
    assert aggregated(wrong) == aggregated(document)
