"""Snapshots as readable YAML files, one file each."""

from typing import Any

import yaml
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode


class YamlFile(SingleFileSnapshotExtension):
    """Writes text as it is, and data as YAML."""

    file_extension = "yaml"
    _write_mode = WriteMode.TEXT

    def serialize(self, data: Any, **_: Any) -> str:
        return data if isinstance(data, str) else yaml.safe_dump(data, sort_keys=False, width=120)
