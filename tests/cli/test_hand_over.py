"""The KV hand-over as `constructs-pd plan` and `constructs-pd explain` show it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from constructs_pd import plan_file
from support.command_line import command, on_terminal
from support.specs import MODEL_ROW, changed, reference_data

TRAFFIC = {"requests_per_second": 8.0, "prompt_tokens": 800}


@pytest.fixture
def busy(tmp_path: Path) -> str:
    path = tmp_path / "spec.yaml"
    path.write_text(yaml.safe_dump(changed(reference_data(), {"traffic": TRAFFIC})), encoding="utf-8")
    return str(path)


def test_every_way_is_shown_with_its_time_and_the_planned_one_first(busy: str) -> None:
    hand_over = plan_file(busy).hand_over
    assert hand_over is not None
    lines = command("plan", busy).out.splitlines()
    head = next(index for index, line in enumerate(lines) if line.startswith("KV hand-over"))
    assert lines[head].split()[-4:] == ["1,024", "tokens", "800", "tokens"]
    for way, line in zip(hand_over.paths, lines[head + 2 :], strict=False):
        assert way.title in line
        assert line.startswith("for comparison: ") is not way.is_planned
        times = (way.longest_seconds, way.prompt_seconds or 0)
        assert [cell.strip() for cell in line.split("  ") if cell.strip()][-2:] == [
            f"{seconds * 1000:,.0f} ms" for seconds in times
        ]


def test_what_the_traffic_asks_is_said_with_both_numbers(busy: str) -> None:
    hand_over = plan_file(busy).hand_over
    assert hand_over is not None
    assert hand_over.sustained is not None
    out = command("plan", busy).out
    assert "8 requests a second ask for 5.5 Gbit/s: 44% of the link, which is full at 18.1" in out
    assert hand_over.sustained.added_ttft == f"{(hand_over.sustained.added_ttft_seconds or 0) * 1000:,.0f} ms"
    assert f"what the hand-over adds to the time to first token: {hand_over.sustained.added_ttft}\n" in out
    assert hand_over.over_tcp in out


def test_it_fits_a_terminal(busy: str) -> None:
    assert "for comparison" in on_terminal("plan", busy, width=80).out


def test_where_the_size_is_not_known_nothing_is_shown_of_it(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    own = {"model": {"source": "acme/own-7b"}, "custom_models": [MODEL_ROW]}
    path.write_text(yaml.safe_dump(changed(reference_data(), own)), encoding="utf-8")
    assert "KV hand-over: not known (PD225)" in command("plan", str(path)).out
    assert json.loads(command("plan", "--json", str(path)).out)["plan"]["hand_over"] is None
    assert "  not known, see PD225\n" in command("explain", "PD226", str(path)).out


@pytest.mark.parametrize("code", ["PD226", "PD227"])
def test_its_rules_show_the_numbers(code: str, busy: str) -> None:
    out = command("explain", code, busy).out
    assert "  demand = 8 x 86.1 MB = 5.5 Gbit/s\n" in out
    assert "  share of the link = 44%, full at 18.1 requests/s\n" in out
    assert "  added TTFT = 102 ms\n" in out
    assert "  EFA, copied through host memory: 50% of the line rate, an engine at most 24 Gbit/s\n" in out
    assert "  the mean prompt alone = 3 ms + 112 descriptors x 2.44 us + 86.1 MB / 12.5 Gbit/s = 58 ms\n" in out
    assert "  share of posting = 0% of each decode GPU's time\n" in out


def test_without_traffic_they_say_so(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(yaml.safe_dump(reference_data()), encoding="utf-8")
    assert "  no traffic is stated\n" in command("explain", "PD227", str(path)).out


def test_a_full_link_adds_time_without_end(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    full = {"traffic": {**TRAFFIC, "requests_per_second": 20.0}}
    path.write_text(yaml.safe_dump(changed(reference_data(), full)), encoding="utf-8")
    without_end = "time without end, it asks for 110% of the link\n"
    assert f"  added TTFT = {without_end}" in command("explain", "PD227", str(path)).out
    assert f"adds to the time to first token: {without_end}" in command("plan", str(path)).out
