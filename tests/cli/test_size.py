"""`constructs-pd size`: the table, the charts, the specification that it writes, and what it refuses."""

from __future__ import annotations

import io
import json
import os
import re
import struct
import sys
from errno import ENOSPC
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from constructs_pd import plan_file
from constructs_pd.cli import output
from constructs_pd.planning.performance.workload import Workload, WorkloadTraffic
from constructs_pd.planning.spec_monitoring import Slo
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
    assert re.search(
        r"^TTFT is an order of magnitude: a quarter of \d+ published numbers of H100 were missed by more than \d+%$",
        example.out,
        re.MULTILINE,
    )
    assert re.search(
        r"^ITL was predicted within \d+% of three in four of \d+ published numbers of H100$", example.out, re.MULTILINE
    )
    other = {"instance_types": ["g7e.48xlarge"], "slo": {"itl_p95_seconds": 0.5}, "prices_per_hour": {}}
    done = command("size", str(workload_file(tmp_path, other)))
    assert "TTFT is an order of magnitude: no published number of RTX PRO 6000 was found" in done.out
    assert "ITL is an order of magnitude: no published number of RTX PRO 6000 was found" in done.out
    assert "unknown" in done.out


def test_the_advice_comes_with_its_reasons(example: Done) -> None:
    advice = example.out.partition("disaggregate: ")[2].splitlines()
    assert advice[0] == "marginal"
    assert len([line for line in advice if line.startswith("  - ")]) >= 5
    assert "too large for one node is no reason for it here" in example.out


@pytest.mark.parametrize("width", [60, 80, 120])
def test_it_fits_a_terminal(width: int) -> None:
    done = on_terminal("size", str(WORKLOAD_FILE), "--plot", width=width)
    assert (done.status, done.err) == (0, "")
    assert max(len(CODES.sub("", line)) for line in done.out.splitlines()) <= width


def test_the_curves_are_drawn_in_the_terminal_both_ways() -> None:
    out = command("size", str(WORKLOAD_FILE), "--plot").out
    for title in ("time to first token, 95th percentile", "time between tokens, 95th percentile"):
        drawn = out.partition(title)[2].partition("Legend")
        assert len([line for line in drawn[0].splitlines() if "d" in line.partition("|")[2]]) >= 2
        assert len([line for line in drawn[0].splitlines() if "a" in line.partition("|")[2]]) >= 1
    assert out.count("disaggregated\n") == out.count("aggregated, the same GPUs\n") == 2
    assert "\x1b" not in out
    assert "\x1b" in on_terminal("size", str(WORKLOAD_FILE), "--plot").out


def test_without_unicode_the_curves_are_drawn_in_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "can_print", lambda text: text.isascii())
    out = command("size", str(WORKLOAD_FILE), "--plot").out
    assert out.isascii()
    drawn = out.partition("time to first token, 95th percentile")[2].partition("Legend")[0]
    assert re.search(r"^ +[1-9][\d,]* \| [.ad]{40,}$", drawn, re.MULTILINE), "the promise of 1,000 ms"
    for way in ("d", "a"):
        assert re.search(rf"^ +[\d,]+ \| .*{way}", drawn, re.MULTILINE)


@pytest.mark.parametrize(("encoding", "has_it"), [("utf-8", True), ("ascii", False), ("latin-1", False)])
def test_what_standard_output_can_print_is_what_its_encoding_has(
    encoding: str, has_it: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    assert output.can_print("\u283f") is has_it


def test_the_steps_of_a_terminals_scales_are_even() -> None:
    out = command("size", str(WORKLOAD_FILE), "--plot").out
    for drawn in out.split("(ms)")[1:]:
        labels = [float(text.replace(",", "")) for text in re.findall(r"^ +([\d,.]+) \|", drawn, re.MULTILINE)]
        assert len(labels) == 13
        assert {round(above - below, 6) for above, below in pairwise(labels)} == {labels[-2]}
        rates = [float(text) for text in drawn.partition("(requests/s)")[2].partition("Legend")[0].split()[1:]]
        assert rates[0] == 0
        assert {above - below for below, above in pairwise(rates)} == {rates[1]}


def test_an_svg_has_both_ways_of_both_times_and_is_the_same_each_time(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("one.svg", "two.SVG")]
    for path in paths:
        assert command("size", str(WORKLOAD_FILE), "--chart", str(path)).status == 0
    text = paths[0].read_text(encoding="utf-8")
    assert text == paths[1].read_text(encoding="utf-8")
    shown = [element.text for element in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
    assert shown.count("disaggregated") == shown.count("aggregated, the same GPUs") == 2
    assert shown.count("promised: 1,000 ms") == shown.count("promised: 20 ms") == 1
    assert shown.count("stated: 40 requests/s") == 2
    assert {
        "time to first token, 95th percentile",
        "time between tokens, 95th percentile",
        "requests per second",
    } <= set(shown)


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
    assert data["advice"]["verdict"] == "marginal"
    assert data["options"][0]["prefill"] == [
        data["specification"]["prefill"][name] for name in ("instance_type", "replicas")
    ]
    assert data["options"][0]["quotas"] == [
        {"code": "L-417A185B", "name": "Running On-Demand P instances", "vcpus": 192 * data["options"][0]["gpus"] // 8}
    ]
    ttft, itl = (data["options"][0][f"{time}_accuracy"] for time in ("ttft", "itl"))
    assert (ttft["gpu"], ttft["is_order_of_magnitude"], itl["is_order_of_magnitude"]) == ("H100", True, False)
    assert min(ttft["numbers"], itl["numbers"]) > 20
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
    path = str(workload_file(tmp_path, {"slo": {"ttft_p95_seconds": 0.06, "ttft_decode_seconds": 0.05}}))
    done = command("size", path)
    assert (done.status, done.out) == (1, "")
    assert done.err.count("PD007 error instance_types: ") == 3
    assert "instance_types: with two different types: none of the 2 pairs is enough either" in done.err
    data = json.loads(command("size", path, "--json").out)
    assert data["sizing"] is None
    assert {finding["code"] for finding in data["findings"]} == {"PD007"}


OUTPUTS = [("--chart", "chart.svg"), ("--emit-spec", "spec.yaml")]


@pytest.mark.parametrize(("option", "name"), OUTPUTS)
def test_a_file_that_exists_is_replaced_by_force_alone(option: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("precious", encoding="utf-8")
    path.chmod(0o640)
    done = command("size", str(WORKLOAD_FILE), option, str(path))
    assert (done.status, done.out) == (2, "")
    assert done.err == f"{option}: {path} exists: add --force to replace it, or name another file\n"
    assert path.read_text(encoding="utf-8") == "precious"
    done = command("size", str(WORKLOAD_FILE), option, str(path), "--force")
    assert (done.status, done.out.splitlines()[-1]) == (0, f"wrote {path}")
    assert path.read_text(encoding="utf-8") != "precious"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_link_stays_and_what_it_stands_for_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target.yaml", tmp_path / "link.yaml"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    assert command("size", str(WORKLOAD_FILE), "--emit-spec", str(link), "--force").status == 0
    assert link.is_symlink()
    assert "old" not in target.read_text(encoding="utf-8")


def test_the_workload_itself_is_never_replaced(tmp_path: Path) -> None:
    path = workload_file(tmp_path)
    before, link = path.read_bytes(), tmp_path / "link.yaml"
    link.hardlink_to(path)
    for name in (path, link, tmp_path / ".." / tmp_path.name / path.name):
        done = command("size", str(path), "--emit-spec", str(name), "--force")
        assert (done.status, done.out) == (2, "")
        assert done.err == f"--emit-spec names {name}, which is read: name another file\n"
    assert path.read_bytes() == before


def test_two_outputs_are_two_files(tmp_path: Path) -> None:
    link = tmp_path / "chart.svg"
    link.symlink_to(tmp_path / "spec.yaml")
    paths = ("--chart", str(link), "--emit-spec", str(tmp_path / "spec.yaml"))
    done = command("size", str(WORKLOAD_FILE), *paths, "--force")
    assert (done.status, done.out) == (2, "")
    assert done.err == f"--chart and --emit-spec both name {tmp_path / 'spec.yaml'}: name two files\n"


@pytest.mark.parametrize(("option", "name"), OUTPUTS)
def test_what_is_no_place_for_a_file_says_so_before_any_work(option: str, name: str, tmp_path: Path) -> None:
    folder, pipe = tmp_path / f"folder-{name}", tmp_path / f"pipe-{name}"
    folder.mkdir()
    os.mkfifo(pipe)
    nowhere = tmp_path / "none" / name
    expected = {
        folder: f"{folder} is a folder: name a file",
        pipe: f"{pipe} is no regular file: name a file",
        nowhere: f"there is no folder {nowhere.parent}: make it, or name a file in one that exists",
        Path(f"/proc/{name}"): f"/proc/{name} cannot be written: No such file or directory",
        tmp_path / f"{'x' * 300}{name}": f"{tmp_path}/{'x' * 300}{name} cannot be written: File name too long",
        tmp_path / f"a\0{name}": f"{tmp_path}/a\\x00{name} cannot be written: embedded null byte",
    }
    for path, message in expected.items():
        done = command("size", "nowhere.yaml", option, str(path), "--force")
        assert (done.status, done.out, done.err) == (2, "", f"{option}: {message}\n")
    assert sorted(file.name for file in tmp_path.iterdir()) == [folder.name, pipe.name]


def test_nothing_is_written_where_one_of_two_files_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = ("--chart", str(tmp_path / "chart.svg"), "--emit-spec", str(tmp_path / "spec.yaml"))
    written = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if "spec.yaml" in path.name:
            written(path, data[:10])
            raise OSError(ENOSPC, "No space left on device")
        return written(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    done = command("size", str(WORKLOAD_FILE), *paths)
    assert done.status == 2
    assert done.err == f"--emit-spec: {tmp_path / 'spec.yaml'} cannot be written: No space left on device\n"
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_appears_meanwhile_is_replaced_by_force_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = tmp_path / "spec.yaml"
    paths = ("--chart", str(tmp_path / "chart.svg"), "--emit-spec", str(spec))
    written = Path.write_bytes

    def meanwhile(path: Path, data: bytes) -> int:
        spec.write_text("precious", encoding="utf-8")
        return written(path, data)

    monkeypatch.setattr(Path, "write_bytes", meanwhile)
    done = command("size", str(WORKLOAD_FILE), *paths)
    assert done.status == 2
    assert done.err == f"--emit-spec: {spec} exists: add --force to replace it, or name another file\n"
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [("spec.yaml", "precious")]
    spec.unlink()
    assert command("size", str(WORKLOAD_FILE), *paths, "--force").status == 0
    assert spec.read_text(encoding="utf-8") != "precious"


def test_what_the_planner_warns_of_the_hand_over_is_said(tmp_path: Path) -> None:
    changes = {
        "model.source": "Qwen/Qwen3-8B",
        "instance_types": ["g5.8xlarge"],
        "traffic": {"requests_per_second": 1.0, "prompt_tokens": 500, "output_tokens": 100},
        "slo": None,
        "prices_per_hour": {},
    }
    path = str(workload_file(tmp_path, changes))
    assert "PD228 g5.8xlarge has no RDMA read" in command("size", path).out
    (option,) = json.loads(command("size", path, "--json").out)["sizing"]["options"]
    assert {warning["code"] for warning in option["warnings"]} == {"PD228"}


def test_nothing_is_written_of_a_workload_that_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    refused = workload_file(tmp_path, {"traffic.requests_per_second": 1e6})
    assert command("size", str(refused), "--emit-spec", str(path)).status == 1
    assert not path.exists()


@pytest.mark.parametrize(
    ("option", "name", "kinds"),
    [
        ("--chart", "chart.pdf", ".svg or .png"),
        ("--chart", "spec.yaml", ".svg or .png"),
        ("--emit-spec", "chart.svg", ".yaml or .yml"),
        ("--emit-spec", "", ".yaml or .yml"),
    ],
)
def test_a_file_of_another_kind_is_a_wrong_command(option: str, name: str, kinds: str) -> None:
    done = command("size", str(WORKLOAD_FILE), option, name)
    assert done.status == 2
    assert f"argument {option}: '{name}' does not end in {kinds}" in done.err


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
    assert (done.status, done.out) == (2, "")
    assert done.err == f"charts need {module}: pip install 'constructs-pd[cli,charts]'\n"
    assert list(tmp_path.iterdir()) == []


FIELDS = (
    *Workload.model_fields,
    *(f"traffic.{name}" for name in WorkloadTraffic.model_fields),
    *(f"slo.{name}" for name in Slo.model_fields),
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


def test_a_type_without_a_price_is_named_and_comes_last(tmp_path: Path) -> None:
    prices = {"prices_per_hour": {"p5en.48xlarge": 1e-6}}
    done = command("size", str(workload_file(tmp_path, prices)))
    assert "no price of p5.48xlarge: what takes one comes last" in done.out
    rows = done.out.splitlines()[2:6]
    assert [row.endswith("unknown") for row in rows] == [False, True, True, True]
    assert "p5.48xlarge" not in rows[0]
    assert re.search(r"  6e-06  +1\.4e-07  +9\.7e-09$", rows[0]), "what is little is not nothing"


def test_one_of_a_thing_is_said_as_one(tmp_path: Path) -> None:
    traffic = {"requests_per_second": 0.001, "prompt_tokens": 1, "output_tokens": 1}
    changes = {"model.source": "Qwen/Qwen3-8B", "instance_types": ["g6.8xlarge"], "traffic": traffic, "slo": None}
    done = command("size", str(workload_file(tmp_path, changes)))
    assert done.out.startswith("Qwen/Qwen3-8B: 0.001 requests a second, prompts of 1 token and answers of 1\n")
    assert ", 1 GPU: TTFT p95" in done.out


def test_no_more_than_a_few_are_listed_as_left_out(tmp_path: Path) -> None:
    types = ["p5.48xlarge", "p5en.48xlarge", "g6.8xlarge", "g5.8xlarge", "g6e.8xlarge", "g6.48xlarge"]
    done = command("size", str(workload_file(tmp_path, {"instance_types": types})))
    assert done.out.count("\nleft out: ") == 5
    assert re.search(r"^\d+ more left out, in --json$", done.out, re.MULTILINE)
