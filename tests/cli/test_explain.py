"""`constructs-pd explain`: what a code means, its arithmetic, and its numbers in a specification."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from constructs_pd import PlanError
from constructs_pd.cli.explain import KNOWN
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.facts import Facts, gather
from constructs_pd.planning.rules import RULES
from constructs_pd.planning.spec import DeploymentSpec
from constructs_pd.planning.spec_file import examine_file
from support.command_line import command
from support.specs import EXISTING_FILE, REFERENCE_FILE, ROOT
from support.strategies import specifications
from support.strategies_runs import examples
from support.strategies_sound import mixed_specifications

BAD = ROOT / "tests" / "data" / "bad_specs"
WORKED = [rule for rule in RULES if rule.worked is not None]


def numbers(facts: Facts) -> list[list[str]]:
    """Return what each rule shows of a specification."""
    return [list(rule.worked(facts)) for rule in RULES if rule.worked is not None]


@pytest.mark.parametrize("code", KNOWN)
def test_every_code_is_explained(code: str) -> None:
    done = command("explain", code)
    known = KNOWN[code]
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"{code} {known.severity}: {known.title}\n")
    assert known.rationale in done.out
    assert known.source in done.out


def test_every_code_of_the_list_is_explained_and_no_other() -> None:
    listed = [line.split()[0] for line in command("rules").out.splitlines()[1:]]
    assert listed == sorted(KNOWN)


def test_a_defect_is_explained_by_its_id() -> None:
    for name, row in load_catalog().known_defects.items():
        done = command("explain", f"pd412/{name}")
        assert done.status == 0
        assert done.out.startswith(f"PD412/{name} {row.severity}: {row.title}\n")
        assert all(part in done.out for part in (row.effect, row.workaround, row.source, row.first_affected))


def test_a_defect_that_nobody_meets_any_more_says_so() -> None:
    assert "ray before 2.58.0 is refused" in command("explain", "PD412/ray-64181").out
    assert "never reported today" not in command("explain", "PD412/vllm-52234").out


def test_an_unknown_defect_is_a_usage_error() -> None:
    done = command("explain", "PD412/vllm-5223")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("'vllm-5223' is none of the 13 defects of PD412: perhaps vllm-52234")
    assert command("explain", "PD203/vllm-52234").err.startswith("'vllm-52234' is none of the 0 defects of PD203")


def test_small_letters_will_do() -> None:
    assert command("explain", "pd203") == command("explain", "PD203")


@pytest.mark.parametrize(
    ("code", "remedy"), [("PD2O3", "perhaps PD"), ("memory", "`constructs-pd rules` lists them"), ("", "lists them")]
)
def test_an_unknown_code_is_a_wrong_command(code: str, remedy: str) -> None:
    done = command("explain", code)
    assert (done.status, done.out) == (2, "")
    assert f"{code!r} is none of the {len(KNOWN)} codes" in done.err
    assert remedy in done.err


def test_the_memory_rule_shows_each_term_of_each_phase() -> None:
    done = command("explain", "PD203", str(REFERENCE_FILE))
    lines = [line.strip() for line in done.out.splitlines()]
    assert done.status == 0
    for phase in ("prefill", "decode"):
        start = lines.index(f"{phase}: one of 1 x L4 on g6.8xlarge")
        terms = lines[start + 1 : start + 8]
        assert terms[0].endswith("usable = 22.03 GiB x 0.92")
        names = ["weights", "activations", "outside PyTorch", "CUDA graphs", "KV cache"]
        assert [term.split("GiB  ")[1] for term in terms[1:6]] == names
        assert terms[6].endswith("1 wanted")
        numbers = [float(term.strip("-= ").split()[0]) for term in terms[:6]]
        assert numbers[0] - sum(numbers[1:5]) == pytest.approx(numbers[5], abs=0.03)
    assert f"0 findings in {REFERENCE_FILE}" in done.out


def test_a_violated_rule_shows_its_numbers_its_finding_and_ends_with_1() -> None:
    path = BAD / "context-beyond-the-model.yaml"
    done = command("explain", "pd207", str(path))
    assert done.status == 1
    assert "max_model_len" in done.out
    assert "was trained for" in done.out
    assert f"1 finding in {path}\n{path}:" in done.out


def test_other_errors_are_mentioned() -> None:
    path = BAD / "five-mistakes.yaml"
    done = command("explain", "PD113", str(path))
    assert done.status == 0
    assert "other errors there, without which the numbers may change: PD005, PD101, PD109, PD207, PD402" in done.out


def test_an_acknowledged_warning_is_shown_with_its_reason() -> None:
    done = command("explain", "PD206", str(EXISTING_FILE))
    assert done.status == 0
    assert done.out.count(": PD206 warning ") == 2
    assert done.out.count("acknowledged: AWS's own sample") == 2


def test_what_constructs_find_is_not_looked_for_in_a_specification() -> None:
    done = command("explain", "PD517", str(REFERENCE_FILE))
    assert done.status == 0
    assert "Constructs find this" in done.out
    assert "0 findings" not in done.out


def test_a_file_of_which_nothing_is_left_ends_with_1(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text("a: 1\n", encoding="utf-8")
    done = command("explain", "PD203", str(path))
    assert done.status == 1
    assert f"too little of {path} can be read" in done.out
    assert command("explain", "PD002", str(path)).status == 1


def test_a_file_that_cannot_be_read_is_one_finding(tmp_path: Path) -> None:
    done = command("explain", "PD203", str(tmp_path))
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("1 error, nothing was written.\n")


def test_rules_that_show_numbers_say_how_they_are_worked_out() -> None:
    assert {rule.code for rule in WORKED} >= {"PD113", "PD114", "PD128", "PD202", "PD203", "PD207", "PD210", "PD224"}
    for rule in WORKED:
        assert rule.arithmetic
        done = command("explain", rule.code, str(REFERENCE_FILE))
        assert f"in {REFERENCE_FILE}\n  " in done.out


@pytest.mark.parametrize("path", sorted(BAD.glob("*.yaml")), ids=lambda path: path.stem)
def test_numbers_are_shown_of_whatever_can_be_read(path: Path) -> None:
    try:
        facts = examine_file(path).facts
    except PlanError:
        facts = None
    if facts is not None:
        assert all(numbers(facts))


@examples(60)
@given(specifications | mixed_specifications())
def test_numbers_are_shown_of_every_specification(data: dict[str, Any]) -> None:
    for lines in numbers(gather(DeploymentSpec.model_validate(data), load_catalog())):
        assert lines
        assert not [line for line in lines if "None" in line or "nan" in line.split()]


def test_an_examination_and_a_plan_find_the_same() -> None:
    examined = examine_file(BAD / "five-mistakes.yaml")
    assert examined.facts is not None
    assert [finding.code for finding in examined.findings] == ["PD005", "PD101", "PD109", "PD207", "PD402", "PD115"]
