"""PD405: the image is pinned."""

import re
from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

# A tag that ends in a whole version, a date or a commit; `latest`, `v1` and `v1.0` move.
PINNED = re.compile(r"(\d+\.\d+\.\d+|\d{8}|[0-9a-f]{7,40})([._-].*)?$")


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a tag that moves and that no digest pins."""
    image = facts.spec.image
    if facts.image is not None and image.digest is None and not PINNED.search(image.tag):
        yield Violation(
            "image.tag",
            f"{image.tag!r} does not end in a whole version, and no digest pins it",
            "name a tag that never moves, or add image.digest",
        )


RULE = Rule(
    code="PD405",
    severity=Severity.ERROR,
    title="The image is pinned to one content",
    rationale="A node that pulls later gets another vLLM, and the two phases refuse each other.",
    source="aws/deep-learning-containers docs/ray-llm/changelog/index.md: one release has four tags",
    check=check,
)
