"""EC2's own descriptions of instance types, as moto carries them."""

from __future__ import annotations

import gzip
import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def described() -> dict[str, Any]:
    """Return what EC2 says of each instance type (DescribeInstanceTypes)."""
    packed = files("moto").joinpath("ec2/resources/instance_types.json.gz").read_bytes()
    data: dict[str, Any] = json.loads(gzip.decompress(packed))
    return data
