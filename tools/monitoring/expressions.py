"""What an expression of PromQL reads: names of series, and the labels that it asks of each.

Not a parser of the whole language: it reads what the rules here are written in, and promtool checks their grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*")|(?P<name>[a-zA-Z_:][\w:]*)|(?P<range>\[[^\]]*\])|(?P<sign>[{}(),])|(?P<other>.)""",
    re.DOTALL,
)
_MATCHER: Final = re.compile(r'([a-zA-Z_]\w*)\s*(?:=~|!~|!=|=)\s*"(?:[^"\\]|\\.)*"')
#: Words before a list of labels.
_LISTS: Final = frozenset({"by", "without", "on", "ignoring", "group_left", "group_right"})
_WORDS: Final = frozenset({"and", "or", "unless", "offset", "bool", "atan2"})


@dataclass(frozen=True)
class Read:
    """A series that an expression reads.

    Attributes:
        name: Its name.
        labels: Labels that its selector asks for.
    """

    name: str
    labels: frozenset[str]


def series_read(expression: str) -> list[Read]:
    """Return the series that an expression reads, in their order."""
    return list(_series(expression))


def labels_listed(expression: str) -> frozenset[str]:
    """Return the labels by which an expression groups or matches series."""
    found: set[str] = set()
    for listed in re.finditer(rf"\b(?:{'|'.join(sorted(_LISTS))})\s*\(([^)]*)\)", _without_texts(expression)):
        found.update(label.strip() for label in listed[1].split(",") if label.strip())
    return frozenset(found)


def _series(expression: str) -> Iterator[Read]:
    tokens = [match for match in _TOKEN.finditer(expression) if not match[0].isspace()]
    index = 0
    while index < len(tokens):
        token = tokens[index]
        following = tokens[index + 1][0] if index + 1 < len(tokens) else ""
        index += 1
        if token.lastgroup != "name" or token[0] in _WORDS:
            continue
        if token[0] in _LISTS:
            while tokens[index][0] != ")":
                index += 1
        elif following == "{":
            end = next(place for place in range(index, len(tokens)) if tokens[place][0] == "}")
            inside = expression[tokens[index].end() : tokens[end].start()]
            yield Read(token[0], frozenset(_MATCHER.findall(inside)))
            index = end + 1
        elif following != "(" and following not in _LISTS and not _after_digit(expression, token.start()):
            yield Read(token[0], frozenset())


def _after_digit(expression: str, place: int) -> bool:
    """Whether a name is the end of a number, such as of 5m or 1e9."""
    return place > 0 and expression[place - 1].isdigit()


def _without_texts(expression: str) -> str:
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', expression)
