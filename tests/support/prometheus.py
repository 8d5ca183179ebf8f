"""Fixtures: Prometheus and promtool, or a skip that says why they are not here. Import them into a conftest.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.monitoring.programs import NoProgramError, program


@pytest.fixture(scope="session")
def promtool() -> Path:
    """Return the path of promtool."""
    return _program("promtool")


@pytest.fixture(scope="session")
def prometheus_is_here() -> None:
    """Skip where there is no Prometheus."""
    _program("prometheus")


def _program(name: str) -> Path:
    try:
        return program(name)
    except NoProgramError as error:
        pytest.skip(str(error))
