"""What a picture shows, as a digest that is kept in it: a test finds pictures of earlier dashboards and data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from tools.monitoring.recorded import RECORDED


def digest_of(dashboard: Mapping[str, Any]) -> str:
    """Return the digest of a dashboard and of the recorded data."""
    shown = json.dumps(dashboard, sort_keys=True).encode()
    return hashlib.sha256(shown + RECORDED.read_bytes()).hexdigest()
