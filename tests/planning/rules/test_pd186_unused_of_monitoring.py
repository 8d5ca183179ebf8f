from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.rules.pd186_unused_of_monitoring import RULE
from support.rules import findings_of


@pytest.mark.parametrize(
    "monitoring",
    [
        None,
        {},
        {"labels": {"release": "stack"}, "runbook_base_url": "https://wiki.example.com/runbooks"},
        {"scraping": "annotations", "runbook_base_url": "https://wiki.example.com/runbooks"},
        {"rules": False, "labels": {"release": "stack"}, "efa_exporter": {"namespace": "monitoring"}},
        {"dashboards": {}},
        {"scraping": "annotations", "dashboards": {"folder": "Serving", "folder_annotation": "grafana_folder"}},
    ],
)
def test_accepts_what_is_read(monitoring: dict[str, Any] | None) -> None:
    assert findings_of(RULE, {"monitoring": monitoring}) == []


@pytest.mark.parametrize(
    ("field", "monitoring", "said"),
    [
        ("labels", {"scraping": "annotations", "labels": {"release": "stack"}}, "1 labels"),
        ("runbook_base_url", {"rules": False, "runbook_base_url": "https://wiki.example.com"}, "0 alerts"),
        ("efa_exporter", {"scraping": "annotations", "efa_exporter": {"namespace": "monitoring"}}, "0 monitors"),
        ("dashboards", {"rules": False, "dashboards": {}}, "0 of the series"),
        ("dashboards.folder_annotation", {"dashboards": {"folder_annotation": "grafana_folder"}}, "0 folders"),
    ],
)
def test_refuses_what_nothing_reads(field: str, monitoring: dict[str, Any], said: str) -> None:
    (finding,) = findings_of(RULE, {"monitoring": monitoring})
    assert finding.subject == f"monitoring.{field}"
    assert said in finding.message
