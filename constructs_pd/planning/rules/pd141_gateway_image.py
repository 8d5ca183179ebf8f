"""PD141: the gateway's image is pinned by its digest."""

import re
from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

_DIGEST = re.compile(r"[^@]+@sha256:[0-9a-f]{64}")


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for an image without a whole digest."""
    gateway = facts.spec.endpoint.gateway
    if gateway is not None and not _DIGEST.fullmatch(gateway.image):
        yield Violation(
            "endpoint.gateway.image",
            f"{gateway.image!r} names no content: it does not end in @sha256: and 64 hexadecimal digits",
            "add the digest, such as `docker buildx imagetools inspect IMAGE` shows it",
        )


RULE = Rule(
    code="PD141",
    severity=Severity.ERROR,
    title="The gateway's image is pinned by its digest",
    rationale="What a tag names changes. This image sees every API key and every prompt.",
    source="Kubernetes documentation, Images: image digests; docker-library/haproxy moves its tags with each build",
    check=check,
)
