"""PD405: the image is pinned."""

import re
from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

# A date or a commit names one content, and so does a whole version that no word makes move.
DATE_OR_COMMIT = re.compile(r"(^|[._-])(\d{8}|[0-9a-f]{7,40})([._-]|$)")
VERSION = re.compile(r"\d+\.\d+\.\d+([._-]|$)")
MOVING = re.compile(r"(^|[._-])(latest|nightly|main|master|dev|edge|stable)([._-]|$)")


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a tag that moves and that no digest pins."""
    image = facts.spec.image
    if facts.image is not None and image.digest is None and not _is_pinned(image.tag):
        yield Violation(
            "image.tag",
            f"{image.tag!r} names no version that stays, and no digest pins it",
            "name a tag that never moves, or add image.digest",
        )


def _is_pinned(tag: str) -> bool:
    is_version = VERSION.search(tag) is not None and MOVING.search(tag) is None
    return is_version or DATE_OR_COMMIT.search(tag) is not None


RULE = Rule(
    code="PD405",
    severity=Severity.ERROR,
    title="The image is pinned to one content",
    rationale="A node that pulls later gets another vLLM, and the two phases refuse each other.",
    source="aws/deep-learning-containers docs/ray-llm/changelog/index.md: one release has four tags",
    check=check,
)
