"""Specification files: one message with everything that is wrong, each with field and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from constructs_pd import DeploymentPlan, PlanError, load_spec, plan_file, plan_or_exit
from support.specs import EXISTING_FILE, REFERENCE_FILE

REFERENCE = EXISTING_FILE.read_text(encoding="utf-8")


def reference_with(tmp_path: Path, *replacements: tuple[str, str]) -> Path:
    text = REFERENCE
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new, 1)
    path = tmp_path / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def line_of(path: Path, text: str) -> int:
    return next(n for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if text in line)


def refusal(path: Path) -> PlanError:
    with pytest.raises(PlanError) as caught:
        plan_file(path)
    return caught.value


def codes_and_subjects(error: PlanError) -> list[tuple[str, str]]:
    return [(finding.code, finding.subject) for finding in error.findings if finding.acknowledged is None]


def test_loads_the_reference() -> None:
    assert load_spec(REFERENCE_FILE).name == "qwen35-9b"
    assert load_spec(str(REFERENCE_FILE)) == load_spec(REFERENCE_FILE)


def test_plans_the_reference_and_locates_its_warnings(reference_plan: DeploymentPlan) -> None:
    assert [(finding.code, finding.subject) for finding in reference_plan.findings] == [
        ("PD115", "single_pod_budget"),
        ("PD206", "decode.instance_type"),
        ("PD206", "prefill.instance_type"),
        ("PD410", "eks_cluster.addon_versions"),
        ("PD410", "eks_cluster.addon_versions"),
        ("PD412", "image.tag"),
    ]
    line = line_of(REFERENCE_FILE, "instance_type")
    assert reference_plan.findings[2].location == f"{REFERENCE_FILE}:{line}"


def test_a_misspelled_field_names_field_line_and_the_right_name(tmp_path: Path) -> None:
    path = reference_with(tmp_path, ("max_model_len", "max_model_length"))
    error = refusal(path)
    assert codes_and_subjects(error) == [("PD002", "model.max_model_length")]
    assert error.findings[0].location == f"{path}:{line_of(path, 'max_model_length')}"
    assert error.findings[0].remedy == "did you mean 'max_model_len'?"


def test_a_misspelled_required_field_is_one_mistake_and_what_lies_below_is_checked(tmp_path: Path) -> None:
    path = reference_with(
        tmp_path, ("prefill:", "prefil:"), ("  enforce_eager: true", "  enforce_eager: true\n  replicas: seven")
    )
    error = refusal(path)
    assert codes_and_subjects(error) == [("PD002", "prefil"), ("PD004", "prefill.replicas")]
    assert error.findings[1].location == f"{path}:{line_of(path, 'replicas: seven')}"


def test_a_misspelled_field_beside_the_right_one_is_not_taken_for_it(tmp_path: Path) -> None:
    path = reference_with(tmp_path, ("prefill:", "prefil: {}\nprefill:"))
    assert codes_and_subjects(refusal(path)) == [("PD002", "prefil")]


def test_mistakes_of_form_and_of_content_come_together(tmp_path: Path) -> None:
    path = reference_with(
        tmp_path,
        ("name: qwen35-9b", "name: " + "q" * 50),
        ("max_model_len:", "max_model_length:"),
        ("decode:\n  instance_type: g6.8xlarge", "decode:\n  instance_type: nope"),
        ("us-west-2a", "us-east-1a"),
    )
    assert codes_and_subjects(refusal(path)) == [
        ("PD002", "model.max_model_length"),
        ("PD101", "name"),
        ("PD103", "availability_zone"),
        ("PD201", "decode.instance_type"),
    ]


def test_a_missing_field_says_what_belongs_there(tmp_path: Path) -> None:
    path = reference_with(tmp_path, ("region: us-west-2\n", ""))
    (finding,) = [finding for finding in refusal(path).findings if finding.code == "PD003"]
    assert (finding.subject, finding.location) == ("region", str(path))
    assert "us-west-2" in finding.remedy


def test_a_dropped_required_value_is_not_also_called_missing(tmp_path: Path) -> None:
    path = reference_with(tmp_path, ("region: us-west-2\n", "region: 2\n"))
    assert codes_and_subjects(refusal(path)) == [("PD004", "region")]


def test_an_unquoted_version_is_explained(tmp_path: Path) -> None:
    path = reference_with(tmp_path, ('"1.35"', "1.35"))
    assert "in quotes" in refusal(path).findings[0].remedy


def test_two_zones_are_explained(tmp_path: Path) -> None:
    path = reference_with(tmp_path, ("us-west-2a", "[us-west-2a, us-west-2b]"))
    assert "EFA does not cross zones" in refusal(path).findings[0].remedy


@pytest.mark.parametrize(
    ("old", "new", "subject"),
    [
        ("  secret_name: hugging-face\n  key: token", "  hf_0123456789abcdefghij", "hugging_face_token"),
        ("secret_name: hugging-face", "secret_name: hf_0123456789abcdefghij", "hugging_face_token.secret_name"),
        ("instance_type: g6.8xlarge", "instance_type: hf_0123456789abcdefghij", "prefill.instance_type"),
        ("claim_name: model-cache", "hf_0123456789abcdefghij: model-cache", "model_cache"),
    ],
)
def test_a_literal_token_is_refused_and_never_shown(tmp_path: Path, old: str, new: str, subject: str) -> None:
    error = refusal(reference_with(tmp_path, (old, new)))
    assert any(finding.subject.startswith(subject) for finding in error.findings)
    assert "0123456789" not in str(error)


def test_an_unknown_field_of_a_list_item_lists_the_known_ones(tmp_path: Path) -> None:
    path = reference_with(tmp_path, ("    reason: AWS", "    zzz: 1\n    reason: AWS"))
    (finding,) = [finding for finding in refusal(path).findings if finding.code == "PD002"]
    assert finding.subject == "acknowledge.0.zzz"
    assert finding.remedy == "known fields: code, reason"


def test_a_field_below_a_plain_mapping_is_described_by_its_owner(tmp_path: Path) -> None:
    path = reference_with(tmp_path, ("endpoint:", "head:\n  node_selector:\n    pool: 7\nendpoint:"))
    (finding,) = [finding for finding in refusal(path).findings if finding.code == "PD004"]
    assert finding.subject == "head.node_selector.pool"
    assert "labels of the CPU nodes" in finding.remedy


def test_a_file_that_is_not_yaml_is_one_finding(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text("a: [\n", encoding="utf-8")
    for read in (plan_file, load_spec):
        with pytest.raises(PlanError, match="PD001"):
            read(path)


def test_load_spec_speaks_of_form_only(tmp_path: Path) -> None:
    load_spec(reference_with(tmp_path, ("name: qwen35-9b", "name: " + "q" * 50)))
    with pytest.raises(PlanError, match="PD002"):
        load_spec(reference_with(tmp_path, ("prefill:", "prefil:")))


def test_plan_or_exit_prints_all_errors_and_ends_with_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = reference_with(tmp_path, ("name: qwen35-9b", "name: " + "q" * 48), ("us-west-2a", "us-east-1a"))
    with pytest.raises(SystemExit) as caught:
        plan_or_exit(path)
    printed = capsys.readouterr()
    assert caught.value.code == 1
    assert printed.out == ""
    assert printed.err.startswith("2 errors, nothing was written.\n")
    assert "PD101" in printed.err
    assert "PD103" in printed.err
    assert "PD206" not in printed.err  # acknowledged


def test_plan_or_exit_prints_open_warnings_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = reference_with(tmp_path, ('"1.35"', '"1.33"'))
    assert plan_or_exit(path).versions.kubernetes == "1.33"
    printed = capsys.readouterr()
    assert "PD403 warning kubernetes_version" in printed.err
    assert "PD206" not in printed.err


def test_plan_or_exit_is_silent_about_acknowledged_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    plan_or_exit(EXISTING_FILE)
    assert capsys.readouterr() == ("", "")
