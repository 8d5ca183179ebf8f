import pytest

from constructs_pd.redaction import holds_credential, redacted

HUGGING_FACE = "hf_" + "aB3" * 10


@pytest.mark.parametrize("text", [HUGGING_FACE, f"token={HUGGING_FACE}", "AKIA0123456789ABCDEF", "sk-" + "x" * 30])
def test_recognizes_credentials(text: str) -> None:
    assert holds_credential(text)
    assert not holds_credential(redacted(text))


@pytest.mark.parametrize("text", ["", "hugging-face", "hf_home", "risk-free-and-long-enough-to-look-like-one", "AKIA"])
def test_leaves_other_text_alone(text: str) -> None:
    assert not holds_credential(text)
    assert redacted(text) == text
