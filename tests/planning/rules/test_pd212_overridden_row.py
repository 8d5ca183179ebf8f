from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd212_overridden_row import RULE
from support.rules import findings_of
from support.specs import FOUR_GPU_ROW, MODEL_ROW


def test_accepts_new_names() -> None:
    own = {**FOUR_GPU_ROW, "instance_type": "own.1"}
    assert findings_of(RULE, {"custom_instances": [own], "custom_models": [MODEL_ROW]}) == []


def test_warns_of_each_row_that_replaces_one() -> None:
    model = {**MODEL_ROW, "model": "Qwen/Qwen3-8B"}
    findings = findings_of(RULE, {"custom_instances": [FOUR_GPU_ROW], "custom_models": [MODEL_ROW, model]})
    assert [finding.subject for finding in findings] == ["custom_instances.0", "custom_models.1"]
    assert all(finding.severity is Severity.WARNING for finding in findings)
    assert "32 rows" in findings[0].message
