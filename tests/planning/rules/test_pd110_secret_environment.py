import pytest

from constructs_pd.planning.rules.pd110_secret_environment import RULE
from support.rules import findings_of


def test_accepts_it_from_a_secret() -> None:
    pod = {"secret_environment": {"WANDB_API_KEY": {"secret_name": "wandb"}}}
    assert findings_of(RULE, {"decode.pod": pod}) == []


@pytest.mark.parametrize("name", ["TOKENIZERS_PARALLELISM", "MAX_TOKENS", "KEY_COUNT", "PASSWORD_FILE"])
def test_accepts_names_that_only_contain_such_a_word(name: str) -> None:
    assert findings_of(RULE, {"decode.pod": {"environment": {name: "false"}}}) == []


@pytest.mark.parametrize("name", ["WANDB_API_KEY", "DB_PASSWORD", "AWS_SECRET", "my_token", "AWS_SECRET_ACCESS_KEY"])
def test_refuses_a_literal_value_and_never_shows_it(name: str) -> None:
    (finding,) = findings_of(RULE, {"decode.pod": {"environment": {name: "xyzzy"}}})
    assert "5 literal characters" in finding.message
    assert "xyzzy" not in finding.render()
