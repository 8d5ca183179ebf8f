from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd408_unchecked_engine_args import RULE
from support.rules import findings_of
from support.specs import IMAGE_ROW

NEWER = {"image": {"tag": "own-1.0.0"}, "custom_images": [{**IMAGE_ROW, "vllm_version": "0.33.0"}]}
ARGUMENTS = {"decode.engine_args": {"block_size": 32, "seed": 1}}


def test_accepts_arguments_of_a_known_version() -> None:
    assert findings_of(RULE, ARGUMENTS) == []


def test_accepts_an_unknown_version_without_arguments() -> None:
    assert findings_of(RULE, NEWER) == []


def test_warns_of_arguments_that_nothing_checks() -> None:
    (finding,) = findings_of(RULE, {**NEWER, **ARGUMENTS})
    assert finding.severity is Severity.WARNING
    assert "2 unchecked: vLLM 0.33.0" in finding.message
    assert "(0.26.0)" in finding.message


def test_leaves_an_unknown_tag_to_its_own_rule() -> None:
    assert findings_of(RULE, {"image": {"tag": "latest"}, **ARGUMENTS}) == []
