import pytest

from constructs_pd.planning.rules.pd106_literal_secret import RULE as CREDENTIALS
from constructs_pd.planning.rules.pd140_literal_api_key import RULE
from support.gateway import GATEWAY, KEY, line_of
from support.rules import findings_of

DIGEST = line_of("", KEY).strip(":\n")


def referring(**reference: str) -> dict[str, object]:
    return {"endpoint.gateway": {**GATEWAY, "api_keys_secret": {"secret_name": "api-keys", **reference}}}


@pytest.mark.parametrize("reference", [{}, {"secret_name": "deadbeef"}, {"key": "keys-2026-11-30.txt"}])
def test_accepts_names(reference: dict[str, str]) -> None:
    assert findings_of(RULE, referring(**reference)) == []


@pytest.mark.parametrize(
    "reference", [{"secret_name": DIGEST}, {"key": DIGEST.upper()}, {"secret_name": "search-" + "0a" * 16}]
)
def test_refuses_digests_and_keys_without_repeating_them(reference: dict[str, str]) -> None:
    (finding,) = findings_of(RULE, referring(**reference))
    (field,) = reference
    assert finding.subject == f"endpoint.gateway.api_keys_secret.{field}"
    assert reference[field] not in finding.render()


def test_leaves_keys_with_a_prefix_to_the_rule_about_credentials() -> None:
    changes = referring(secret_name=KEY)
    assert findings_of(RULE, changes) == []
    assert len(findings_of(CREDENTIALS, changes)) == 1


def test_says_nothing_without_a_gateway() -> None:
    assert findings_of(RULE) == []
