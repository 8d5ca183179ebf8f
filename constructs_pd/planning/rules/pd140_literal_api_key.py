"""PD140: the gateway's keys are named by a Secret and not written down."""

import re
from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.redaction import holds_credential

# A digest of a key, or a random key: no name that a person gives a Secret. PD106 knows keys that have a prefix.
_HEXADECIMAL = re.compile(r"[0-9A-Fa-f]{32,}")


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a part of the reference that holds a long hexadecimal number."""
    gateway = facts.spec.endpoint.gateway
    if gateway is None:
        return
    for name in ("secret_name", "key"):
        text = getattr(gateway.api_keys_secret, name)
        found = _HEXADECIMAL.search(text)
        if found is not None and not holds_credential(text):
            yield Violation(
                f"endpoint.gateway.api_keys_secret.{name}",
                f"{len(found[0])} hexadecimal digits in a row, which look like an API key or its digest "
                "(they are not repeated here)",
                "put name:digest into a Secret, refer to it by secret_name and key, and revoke a key that stood here",
            )


RULE = Rule(
    code="PD140",
    severity=Severity.ERROR,
    title="The gateway's API keys are named by a Secret",
    rationale="They would stand in the manifests, in the repository and in every build log.",
    source="this library, docs/gateway.md",
    check=check,
)
