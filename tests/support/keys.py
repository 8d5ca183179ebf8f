"""Misspell the keys of nested data, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import Any


def key_paths(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every key in nested data."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield (*path, key)
            yield from key_paths(value, (*path, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from key_paths(value, (*path, index))


def misspelled(data: Any, path: tuple[Any, ...]) -> Any:
    """Return a copy in which the key at a path has one letter too many."""
    copy = deepcopy(data)
    place = copy
    for part in path[:-1]:
        place = place[part]
    place[f"{path[-1]}x"] = place.pop(path[-1])
    return copy


def unnoticed(data: Any, check: Callable[[Any], Iterable[str]]) -> list[str]:
    """Return the keys whose misspelling a check says nothing against."""
    return [".".join(map(str, path)) for path in key_paths(data) if not any(check(misspelled(data, path)))]
