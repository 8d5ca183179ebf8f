"""Snapshots as readable YAML files, one file each."""

from typing import Any

import yaml
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode


class _Dumper(yaml.SafeDumper):
    """Writes a text of several lines as such, not as one line of escapes."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


class YamlFile(SingleFileSnapshotExtension):
    """Writes text as it is, and data as YAML."""

    file_extension = "yaml"
    _write_mode = WriteMode.TEXT

    def serialize(self, data: Any, **_: Any) -> str:
        return data if isinstance(data, str) else yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=120)


class TextFile(YamlFile):
    """Writes text as it is, in a file that says so."""

    file_extension = "txt"
