"""What the mock computes: a KV cache that depends on every token and on the model, and tokens that depend on it.

It is no language model, but it has the one property that a rehearsal needs of one: whoever continues a prompt from
another prompt's cache, from a damaged cache or with other weights says something else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

#: Bytes of KV cache for a token; a multiple of every number of GPUs that an engine may have.
BYTES_PER_TOKEN: Final = 64
#: A token of the answer is one of these, one character each.
ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz "


def tokens_of(text: str) -> list[int]:
    """Return a text's tokens: its bytes."""
    return list(text.encode())


def kv_cache(model: str, tokens: Sequence[int], cache: bytes = b"") -> bytes:
    """Return the cache of more tokens, appended to the cache of what comes before them."""
    parts = [cache]
    last = cache[-BYTES_PER_TOKEN:] or hashlib.blake2b(model.encode()).digest()
    for token in tokens:
        last = hashlib.blake2b(last + token.to_bytes(4, "big")).digest()
        parts.append(last)
    return b"".join(parts)


def next_token(model: str, cache: bytes, salt: str = "") -> int:
    """Return the token that follows: of the whole cache, as attention is. The salt stands for sampling."""
    digest = hashlib.blake2b(cache, key=hashlib.blake2b(f"{model}\0{salt}".encode()).digest()).digest()
    return ord(ALPHABET[int.from_bytes(digest[:4], "big") % len(ALPHABET)])


def shards(cache: bytes, count: int) -> list[bytes]:
    """Divide a cache among the GPUs of an engine: each holds its own part of every token."""
    width = BYTES_PER_TOKEN // count
    tokens = [cache[start : start + BYTES_PER_TOKEN] for start in range(0, len(cache), BYTES_PER_TOKEN)]
    return [b"".join(token[rank * width : (rank + 1) * width] for token in tokens) for rank in range(count)]


def joined(parts: Sequence[bytes]) -> bytes:
    """Put the shards of a cache together."""
    width = BYTES_PER_TOKEN // len(parts)
    return b"".join(part[start : start + width] for start in range(0, len(parts[0]), width) for part in parts)
