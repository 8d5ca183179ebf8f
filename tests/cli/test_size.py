"""`constructs-pd size`: the table, the charts, the specification that it writes, and what it refuses."""

from __future__ import annotations

import json
import re
import struct
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from constructs_pd import plan_file
from constructs_pd.planning.performance.workload import Workload, WorkloadTraffic
from constructs_pd.planning.spec_targets import Targets
from support.command_line import Done, command, on_terminal
from support.strategies_runs import examples
from support.workloads import WORKLOAD_FILE, workload_data, workload_file

ONE_TYPE = {"instance_types": ["p5.48xlarge"]}
CODES = re.compile(r"\x1b\[[\d;]*m")


@pytest.fixture(scope="module")
def example() -> Done:
    return command("size", str(WORKLOAD_FILE))


def test_the_table_has_each_option_with_its_times_and_cost(example: Done) -> None:
    assert (example.status, example.err) == (0, "")
    head, first = example.out.splitlines()[1:3]
    assert head.split()[:3] == ["prefill", "decode", "GPUs"]
    assert re.match(r"\d+ x p5\.48xlarge  +\d+ x p5\.48xlarge  +\d+  +\d+ ms  +\d+ ms  +[\d.]+ ms  ", first)
    assert re.search(r"  \d+\.\d\d  +\d+\.\d\d  +\d+\.\d\d$", first)


def test_the_ratio_the_quota_and_what_is_full_first_are_said(example: Done) -> None:
    assert re.search(r"^P:D ratio \d+:\d+; (prefill|decode|link) is full first, at [\d.]+$", example.out, re.MULTILINE)
    assert re.search(
        r"^quota: [\d,]+ vCPUs of Running On-Demand P instances \(L-417A185B\)$", example.out, re.MULTILINE
    )


def test_what_is_no_more_than_an_order_of_magnitude_says_so(example: Done, tmp_path: Path) -> None:
    assert "TTFT is an order of magnitude: a quarter of such predictions were off by more than 3" in example.out
    assert "ITL was predicted within " in example.out
    other = {"instance_types": ["g7e.48xlarge"], "traffic.targets": {"itl_seconds": 0.5}, "prices_per_hour": {}}
    done = command("size", str(workload_file(tmp_path, other)))
    assert "TTFT is an order of magnitude: no benchmark of this GPU was found" in done.out
    assert "ITL is an order of magnitude: no benchmark of this GPU was found" in done.out
    assert "unknown" in done.out


def test_the_advice_comes_with_its_reasons(example: Done) -> None:
    advice = example.out.partition("disaggregate: ")[2].splitlines()
    assert advice[0] == "yes"
    assert len([line for line in advice if line.startswith("  - ")]) >= 5
    assert "too large for one node is no reason for it here" in example.out


@pytest.mark.parametrize("width", [60, 80, 120])
def test_it_fits_a_terminal(width: int) -> None:
    done = on_terminal("size", str(WORKLOAD_FILE), "--plot", width=width)
    assert (done.status, done.err) == (0, "")
    assert max(len(CODES.sub("", line)) for line in done.out.splitlines()) <= width


def test_the_curves_are_drawn_in_the_terminal_both_ways() -> None:
    out = command("size", str(WORKLOAD_FILE), "--plot").out
    for title in ("time to first token, 95th percentile", "time between tokens, mean"):
        drawn = out.partition(title)[2].partition("Legend")
        assert len([line for line in drawn[0].splitlines() if "d" in line.partition("|")[2]]) >= 3
        assert len([line for line in drawn[0].splitlines() if "a" in line.partition("|")[2]]) >= 2
    assert out.count("disaggregated\n") == out.count("aggregated, the same GPUs\n") == 2
    assert "\x1b" not in out
    assert "\x1b" in on_terminal("size", str(WORKLOAD_FILE), "--plot").out


def test_an_svg_has_both_ways_of_both_times_and_is_the_same_each_time(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("one.svg", "two.SVG")]
    for path in paths:
        assert command("size", str(WORKLOAD_FILE), "--chart", str(path)).status == 0
    text = paths[0].read_text(encoding="utf-8")
    assert text == paths[1].read_text(encoding="utf-8")
    shown = [element.text for element in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
    assert shown.count("disaggregated") == shown.count("aggregated, the same GPUs") == 2
    assert shown.count("promised") == shown.count("stated rate") == 2
    assert {"time to first token, 95th percentile", "time between tokens, mean", "requests per second"} <= set(shown)


def test_a_png_is_a_picture_of_the_stated_size(tmp_path: Path) -> None:
    path = tmp_path / "chart.png"
    assert command("size", str(WORKLOAD_FILE), "--chart", str(path)).status == 0
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n")
    assert struct.unpack(">II", content[16:24]) == (1080, 840)


def test_the_specification_that_it_writes_plans(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    done = command("size", str(WORKLOAD_FILE), "--emit-spec", str(path))
    assert done.status == 0
    planned = plan_file(path)
    assert f"{planned.prefill.replicas} x p5.48xlarge" in done.out
    assert {finding.code for finding in planned.findings} == {"PD115"}
    assert "&id" not in path.read_text(encoding="utf-8")
    assert command("plan", str(path)).status == 0


def test_json_has_everything_and_no_number_without_an_end() -> None:
    done = command("size", str(WORKLOAD_FILE), "--json")
    data = json.loads(done.out, parse_constant=lambda name: pytest.fail(name))["sizing"]
    assert data["advice"]["verdict"] == "yes"
    assert data["options"][0]["prefill"] == [
        data["specification"]["prefill"][name] for name in ("instance_type", "replicas")
    ]
    assert data["options"][0]["quotas"] == [
        {"code": "L-417A185B", "name": "Running On-Demand P instances", "vcpus": 192 * data["options"][0]["gpus"] // 8}
    ]
    assert len(data["curve"]) == 32
    assert data["curve"][-1]["apart"]["ttft_mean"] is None
    assert data["workload"]["traffic"]["output_tokens"] == 300


def test_mistakes_are_found_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "workload.yaml"
    path.write_text(
        WORKLOAD_FILE.read_text(encoding="utf-8").replace("output_tokens", "output_token"), encoding="utf-8"
    )
    done = command("size", str(path))
    assert (done.status, done.out) == (1, "")
    assert (
        f"{path}:13: PD002 error traffic.output_token: there is no such field\n      did you mean 'output_tokens'?"
        in done.err
    )
    assert "required" not in done.err


def test_what_cannot_be_served_is_refused_with_every_reason(tmp_path: Path) -> None:
    path = str(workload_file(tmp_path, {"traffic.targets": {"itl_seconds": 0.0001}}))
    done = command("size", path)
    assert (done.status, done.out) == (1, "")
    assert done.err.count("PD007 error instance_types: ") == 4
    data = json.loads(command("size", path, "--json").out)
    assert data["sizing"] is None
    assert {finding["code"] for finding in data["findings"]} == {"PD007"}


@pytest.mark.parametrize("option", ["--chart", "--emit-spec"])
def test_a_file_that_cannot_be_written_says_so(option: str, tmp_path: Path) -> None:
    path = tmp_path / "none" / "file.svg"
    done = command("size", str(WORKLOAD_FILE), option, str(path))
    assert done.status == 2
    assert done.err == f"{path} cannot be written: No such file or directory\n"


def test_a_chart_of_another_kind_is_a_wrong_command(tmp_path: Path) -> None:
    done = command("size", str(WORKLOAD_FILE), "--chart", str(tmp_path / "chart.pdf"))
    assert done.status == 2
    assert "ends neither in .svg nor in .png" in done.err


@pytest.mark.parametrize(
    ("module", "options"),
    [("matplotlib", ["--chart", "chart.svg"]), ("plotille", ["--plot"])],
    ids=lambda each: str(each),
)
def test_without_the_library_it_says_what_to_install(
    module: str, options: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    done = command("size", str(WORKLOAD_FILE), *options)
    assert done.status == 2
    assert done.err == f"charts need {module}: pip install 'constructs-pd[cli,charts]'\n"
    assert list(tmp_path.iterdir()) == []


FIELDS = (
    *Workload.model_fields,
    *(f"traffic.{name}" for name in WorkloadTraffic.model_fields),
    *(f"traffic.targets.{name}" for name in Targets.model_fields),
)
ABSURD: list[Any] = [0, -1, 10**30, 1e308, float("nan"), float("inf"), True, "8", "", [], {}, [[]], None, 1.5]


@examples(60)
@given(st.sampled_from(sorted(FIELDS)), st.sampled_from(ABSURD))
def test_whatever_a_workload_holds_there_is_no_traceback(
    tmp_path_factory: pytest.TempPathFactory, field: str, value: Any
) -> None:
    data = workload_data()
    *owners, name = field.split(".")
    owner = data
    for each in owners:
        owner = owner[each]
    owner[name] = value
    path = tmp_path_factory.mktemp("absurd") / "workload.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    done = command("size", str(path), "--json")
    assert done.status in (0, 1)
    assert "Traceback" not in done.err
    json.loads(done.out)
