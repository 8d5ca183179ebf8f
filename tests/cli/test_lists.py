"""`constructs-pd models`, `instances` and `rules`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.codes import OTHER_CODES
from constructs_pd.planning.footprint import footprint
from constructs_pd.planning.rules import RULES
from support.command_line import command

CATALOG = load_catalog()


def data_of(*arguments: str) -> list[dict[str, Any]]:
    done = command(*arguments, "--json")
    assert (done.status, done.err) == (0, "")
    data: list[dict[str, Any]] = json.loads(done.out)
    return data


def test_models_have_their_sizes_as_numbers() -> None:
    data = {row["model"]: row for row in data_of("models")}
    assert list(data) == list(CATALOG.models)
    for name, row in data.items():
        size = footprint(CATALOG.models[name])
        assert size is not None
        assert (row["weight_bytes"], row["kv_bytes_per_token"]) == (size.weight_bytes, size.kv_bytes_per_token)
        assert all(type(row[key]) is int for key in ("parameters", "weight_bytes", "context_tokens", "kv_heads"))
        assert type(row["gated"]) is bool
    assert data["openai/gpt-oss-20b"]["windows"] == [
        {"kind": "sliding", "window_tokens": 128, "bytes_per_token": 24576}
    ]
    assert data["Qwen/Qwen3.5-9B"]["state_bytes_per_request"] > 0


def test_models_are_a_table_of_the_same() -> None:
    done = command("models")
    head, *lines = done.out.splitlines()
    assert head.split("  ")[0] == "model"
    assert [line.split()[0] for line in lines] == list(CATALOG.models)
    (line,) = [line for line in lines if line.startswith("meta-llama/Meta-Llama-3.1-70B ")]
    assert line.split() == [
        "meta-llama/Meta-Llama-3.1-70B",
        "70.6",
        "131.4",
        "327,680",
        "131,072",
        "full",
        "yes",
        "bfloat16",
    ]
    assert {line.split()[5] for line in lines} == {"full", "hybrid", "windows"}


def test_instances_have_numbers_and_say_what_is_unknown() -> None:
    data = {row["instance_type"]: row for row in data_of("instances")}
    assert list(data) == list(CATALOG.instances)
    large = data["p5.48xlarge"]
    assert (large["gpu"]["count"], large["efa"]["interfaces"], large["pod_cpu_cores"]) == (8, 32, 189)
    assert data["g7e.8xlarge"]["gpu"]["gpudirect_rdma"] is None
    (line,) = command("instances", "g7e.8xl").out.splitlines()[1:]
    assert line.split() == ["g7e.8xlarge", "1", "x", "RTX", "PRO", "6000", "96.0", "1", "100", "unknown", "29", "221"]


def test_rules_are_every_code_once() -> None:
    data = data_of("rules")
    assert [row["code"] for row in data] == sorted(
        [*(code.code for code in OTHER_CODES), *(rule.code for rule in RULES)]
    )
    assert {row["severity"] for row in data} == {"error", "warning"}
    assert {row["code"] for row in data if row["arithmetic"]} >= {"PD203", "PD210"}


@pytest.mark.parametrize(
    ("kind", "text", "count"), [("models", "QWEN3.5", 5), ("instances", "g6.", 5), ("rules", "pd5", 24)]
)
def test_a_list_can_be_narrowed_by_a_part_of_the_name(kind: str, text: str, count: int) -> None:
    assert len(data_of(kind, text)) == count
    assert len(command(kind, text).out.splitlines()) == count + 1


def test_a_name_that_nothing_has_gives_an_empty_list() -> None:
    assert data_of("models", "zzz") == []
    done = command("models", "zzz")
    assert (done.status, done.out) == (0, "")
    assert done.err == f"0 of {len(CATALOG.models)} names hold 'zzz'\n"
