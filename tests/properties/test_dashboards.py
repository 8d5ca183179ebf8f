"""Whatever plans has dashboards that read only what there is, and that Grafana's models read."""

from __future__ import annotations

import json
from typing import Any

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
from hypothesis import assume, given

from support.dashboards import built, queries
from support.metric_mistakes import labels_recorded, mistakes_of, rules_of
from support.strategies_runs import examples, planned
from support.strategies_sound import sound_specifications
from tools.monitoring.metric_names import known, series_of

EXPORTED = series_of(known())


@examples(25)
@given(data=sound_specifications())
def test_panels_read_what_is_recorded_and_exported(data: dict[str, Any]) -> None:
    assume("dashboards" in data.get("monitoring", {}))
    plan = planned(data)
    found = built(plan)
    assert {"overview", "hand-over", "endpoint"} <= found.keys()
    assert list(mistakes_of(queries(found), labels_recorded(rules_of(plan)), EXPORTED)) == []
    register_default_plugins()
    for dashboard in found.values():
        assert json.loads(json.dumps(Dashboard.from_json(dashboard), cls=JSONEncoder)) == dashboard
