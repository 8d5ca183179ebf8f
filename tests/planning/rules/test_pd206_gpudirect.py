from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd206_gpudirect import RULE
from support.rules import findings_of
from support.specs import FOUR_GPU_ROW

P5 = {"prefill.instance_type": "p5.48xlarge", "decode.instance_type": "p5.48xlarge"}


def test_accepts_instances_with_gpudirect() -> None:
    assert findings_of(RULE, P5) == []


def test_warns_for_each_phase_without_it() -> None:
    findings = findings_of(RULE)
    assert [finding.subject for finding in findings] == ["prefill.instance_type", "decode.instance_type"]
    assert all(finding.severity is Severity.WARNING for finding in findings)
    assert all("has no GPUDirect" in finding.message for finding in findings)


def test_takes_unknown_for_unknown_and_not_for_yes() -> None:
    changes = {**P5, "decode.instance_type": "g6.12xlarge", "custom_instances": [FOUR_GPU_ROW]}
    (finding,) = findings_of(RULE, changes)
    assert "is not known to have GPUDirect" in finding.message


def test_leaves_an_unknown_type_to_its_own_rule() -> None:
    assert findings_of(RULE, {**P5, "decode.instance_type": "x"}) == []
