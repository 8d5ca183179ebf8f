"""A language model of hashes: the same prompt, seed and place always give the same token, and nothing else does."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

WORDS: Final = (" anchor", " beacon", " cedar", " dahlia", " engine", " falcon", " garnet", " harbour", " indigo")
WIDE_WORDS: Final = (" Grüße", " наука", " 日本語", " 한국어", " 🙂", " हिन्दी")
NATURAL_TOKENS: Final = 120


@dataclass(frozen=True)
class Token:
    """A token with its log probability, and the likeliest ones in its place."""

    text: str
    logprob: float
    top: tuple[tuple[str, float], ...]


def tokens_of(text: str) -> int:
    """Return how many tokens a text has: a word and the space before it is one."""
    return len(re.findall(r"\s*\S+|\s+$", text))


def token(key: str, place: int) -> Token:
    """Return what is said at a place of the answer to a prompt."""
    digest = hashlib.sha256(f"{place}:{key}".encode()).digest()
    words = WORDS if key.isascii() else WIDE_WORDS
    # Neighbouring words differ, so that a cut's first place is the one that was meant.
    first = digest[0] % len(words)
    top = tuple((words[(first + step) % len(words)], -0.25 - step - digest[1] / 1024) for step in range(4))
    return Token(*top[0], top)
