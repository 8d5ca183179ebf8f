import pytest

from constructs_pd.planning.rules.pd106_literal_secret import RULE
from support.rules import findings_of


def test_accepts_a_reference() -> None:
    assert findings_of(RULE) == []


def test_accepts_text_one_character_short_of_a_token() -> None:
    assert findings_of(RULE, {"prefill.instance_type": "hf_" + "a" * 15}) == []


@pytest.mark.parametrize(
    ("path", "value", "subject"),
    [
        ("prefill.instance_type", "hf_" + "a" * 16, "prefill.instance_type"),
        ("acknowledge", [{"code": "PD206", "reason": "key AKIA0123456789ABCDEF"}], "acknowledge.0.reason"),
        ("head.node_selector", {"team": "sk-" + "b" * 20}, "head.node_selector.team"),
    ],
)
def test_refuses_a_credential_wherever_it_stands_and_never_shows_it(path: str, value: object, subject: str) -> None:
    (finding,) = findings_of(RULE, {path: value})
    assert finding.subject == subject
    for secret in ("a" * 16, "0123456789ABCDEF", "b" * 20):
        assert secret not in finding.render()
