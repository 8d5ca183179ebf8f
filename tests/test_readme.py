"""The README says only what is true: its snippets run, its messages are the real ones, its commands exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from pytest_examples import CodeExample, EvalExample, find_examples

from constructs_pd import PlanError, plan_file
from support.specs import ROOT

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)


SPECIFICATION = next(block for block in blocks("yaml") if block.startswith("name:"))


EXAMPLES = list(find_examples(str(README)))


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_python_snippets_run_and_print_what_they_say(
    example: CodeExample, eval_example: EvalExample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spec.yaml").write_text(SPECIFICATION, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    eval_example.set_config(quotes="double", ruff_ignore=["I001"])
    eval_example.lint_ruff(example)
    eval_example.run_print_check(example)


def test_there_are_two_python_snippets() -> None:
    assert len(EXAMPLES) == 2


def test_the_error_message_is_the_real_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bad = SPECIFICATION.replace("us-west-2a ", "us-east-1a ").replace("replicas: 3", "replica: 3")
    Path("my.yaml").write_text(bad.replace("p5.48xlarge", "p5.48large", 1), encoding="utf-8")
    with pytest.raises(PlanError) as caught:
        plan_file("my.yaml")
    (message,) = blocks("text")
    assert str(caught.value) == message.rstrip()


def test_every_other_yaml_snippet_is_a_part_of_a_specification(tmp_path: Path) -> None:
    for block in blocks("yaml"):
        if block != SPECIFICATION:
            path = tmp_path / "spec.yaml"
            path.write_text(SPECIFICATION + block, encoding="utf-8")
            assert yaml.safe_load(block)
            plan_file(path)


def test_every_make_target_it_names_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"make ([a-z]+)", TEXT + (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    assert {"synth", "test"} <= targets
    assert targets <= set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))


def test_every_relative_link_leads_somewhere() -> None:
    for target in re.findall(r"\]\((?!https:)([^)]+)\)", TEXT):
        assert (ROOT / target).exists(), target
