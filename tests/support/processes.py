"""Python in a process of its own, with a clean environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def python(
    *arguments: str, cwd: Path = ROOT, given: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run this environment's Python, with Node where the Makefile puts it, and text given on standard input."""
    own = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_", "CONSTRUCTS_PD"))
    }
    node = str(Path(sys.executable).with_name("node"))
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**own, "JSII_NODE": node, **environment},
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
