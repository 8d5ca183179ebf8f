"""YAML with the line of every field, and without YAML's silent acceptance of a field given twice."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import yaml

MERGE_KEY: Final = "tag:yaml.org,2002:merge"
SURROGATE: Final = re.compile("[\\ud800-\\udfff]")
TEXT: Final = "tag:yaml.org,2002:str"
INTEGER: Final = "tag:yaml.org,2002:int"
MAX_NODES: Final = 100_000
# The longest published config.json has three million.
MAX_BYTES: Final = 5_000_000


class YamlFileError(Exception):
    """The file is not one readable YAML mapping with unique keys.

    Attributes:
        location: `file:line`, or the file alone.
        message: What is wrong; never a value from the file.
        remedy: What to do.
    """

    def __init__(self, location: str, message: str, remedy: str) -> None:
        self.location, self.message, self.remedy = location, message, remedy
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """A parsed file.

    Attributes:
        path: The file.
        data: Its content.
        lines: Line of every field, by its dotted path.
    """

    path: Path
    data: dict[str, Any]
    lines: Mapping[str, int] = field(repr=False)

    def with_renamed(self, renamed: Mapping[tuple[str | int, ...], tuple[str | int, ...]]) -> YamlDocument:
        """Return the document with the lines of misspelled fields also under their right names."""
        lines = dict(self.lines)
        for wrong, right in renamed.items():
            old, new = (".".join(str(part) for part in path) for path in (wrong, right))
            lines |= {
                new + key.removeprefix(old): line
                for key, line in lines.items()
                if key == old or key.startswith(f"{old}.")
            }
        return replace(self, lines=lines)

    def location(self, subject: str) -> str:
        """Return `file:line` of a dotted path, or of its nearest ancestor that stands in the file."""
        parts = subject.split(".")
        for length in range(len(parts), 0, -1):
            line = self.lines.get(".".join(parts[:length]))
            if line is not None:
                return f"{self.path}:{line}"
        return str(self.path)


def parse_yaml(path: Path) -> YamlDocument:
    """Read a YAML file that holds one mapping.

    Raises:
        YamlFileError: The file cannot be read or is not that.
    """
    text = _text(path)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is not None and _expanded_size(root, {}) > MAX_NODES:
            reason = f"holds more than {MAX_NODES:,} values, aliases counted, or refers to itself"
            raise YamlFileError(str(path), reason, "write it without aliases, and read a config.json so long in Python")
        data = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise YamlFileError(f"{path}:{line}", f"is not YAML: {error.problem}", "mend the syntax of this line") from None
    except (yaml.YAMLError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise YamlFileError(str(path), f"is not YAML: {reason}", "mend its syntax") from None
    except RecursionError:
        raise YamlFileError(str(path), "is nested too deeply", "a specification has four levels") from None
    if not isinstance(root, yaml.MappingNode) or not isinstance(data, dict):
        raise YamlFileError(str(path), "does not hold a mapping of fields", "start with `name: ...`") from None
    lines: dict[str, int] = {}
    _walk(root, "", path, lines)
    return YamlDocument(path, data, lines)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # a path may hold a null character
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise YamlFileError(str(path), f"cannot be read: {reason}", "check its name and permissions") from None
    if len(content) > MAX_BYTES:
        raise YamlFileError(str(path), f"holds more than {MAX_BYTES:,} bytes", "give the path of a specification")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise YamlFileError(str(path), "is not UTF-8 text", "save it as UTF-8") from None


def _expanded_size(node: yaml.Node, sizes: dict[int, int]) -> int:
    """Return how many values a node holds with every alias written out; aliases make it grow exponentially."""
    if id(node) not in sizes:
        sizes[id(node)] = MAX_NODES + 1  # until it is known: a node that holds itself never ends
        sizes[id(node)] = 1 + sum(_expanded_size(child, sizes) for child in _children(node))
    return sizes[id(node)]


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _walk(node: yaml.Node, prefix: str, path: Path, lines: dict[str, int]) -> None:
    _refuse_half_a_character(node, path)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = str(key_node.value)
            if key_node.tag not in (TEXT, MERGE_KEY):
                raise YamlFileError(f"{path}:{line}", f"has a key that YAML does not read as text: {key!r}", "quote it")
            if key in seen and key_node.tag != MERGE_KEY:
                raise YamlFileError(f"{path}:{line}", f"gives {key!r} twice; YAML would use the last", "keep one")
            _refuse_half_a_character(key_node, path)
            seen.add(key)
            lines[f"{prefix}{key}"] = line
            _walk(value_node, f"{prefix}{key}.", path, lines)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            lines[f"{prefix}{index}"] = item.start_mark.line + 1
            _walk(item, f"{prefix}{index}.", path, lines)
    elif node.tag == INTEGER and not re.fullmatch(r"[-+]?(0|[1-9][0-9]*)", node.value):
        place = f"{path}:{node.start_mark.line + 1}"
        raise YamlFileError(place, f"has a number that YAML reads as another: {node.value}", "write it in decimal")


def _refuse_half_a_character(node: yaml.Node, path: Path) -> None:
    """Refuse what an escape can write and no file can hold."""
    if isinstance(node, yaml.ScalarNode) and SURROGATE.search(node.value):
        place = f"{path}:{node.start_mark.line + 1}"
        raise YamlFileError(place, "has half of a UTF-16 pair, which is no character", "write the character itself")
