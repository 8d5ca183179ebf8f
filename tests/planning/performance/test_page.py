"""docs/performance.md has the numbers that are reckoned with."""

from __future__ import annotations

import re

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.catalog.rows import EngineSpeedRow
from constructs_pd.planning.performance.neutral import STEP_TOKENS
from support.specs import ROOT

TEXT = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
CATALOG = load_catalog()
OF_ENGINES = [name for name, field in EngineSpeedRow.model_fields.items() if field.annotation is float]


def rows(name: str) -> str:
    """Return the rows of the table of shares that are about a number."""
    found = re.search(rf"^\|[^|\n]*`{name}`.*\n(?:\| \|.*\n)*", TEXT, re.MULTILINE)
    assert found is not None, name
    return found[0]


@pytest.mark.parametrize("name", OF_ENGINES)
def test_each_number_of_the_engine_has_a_row(name: str) -> None:
    (speed,) = CATALOG.engine_speed.values()
    assert re.search(rf"(?<![\d.]){getattr(speed, name):g}(?![\d.])", rows(name)), name


@pytest.mark.parametrize("name", ["half_efficiency", "fp8_efficiency", "fp4_efficiency", "memory_efficiency"])
def test_each_share_of_a_measured_gpu_has_a_row(name: str) -> None:
    for gpu, speed in CATALOG.gpu_speed.items():
        share = getattr(speed, name)
        if speed.is_measured and share is not None:
            assert re.search(rf"\b{gpu.split()[0]}\b.* {share:g}(?!\d)", rows(name)), gpu


def test_the_chunks_that_are_tried_are_named() -> None:
    (sentence,) = re.findall(r"`max_num_batched_tokens` of 512 .*?\.\s", " ".join(TEXT.split()))
    for tokens in STEP_TOKENS:
        assert f"{tokens:,}" in sentence
