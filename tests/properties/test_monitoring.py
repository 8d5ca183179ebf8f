"""Whatever plans is monitored by objects and rules that their readers accept."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from hypothesis import assume, given

from constructs_pd.manifests.monitoring.rules import rule_file
from readers import custom_resource, kubernetes_schema
from support.rendered import monitoring_of
from support.strategies_runs import examples, planned
from support.strategies_sound import sound_specifications

CRDS = Path(__file__).parents[1] / "readers" / "data" / "prometheus-operator-0.93.0"


@examples(25)
@given(data=sound_specifications())
def test_every_reader_accepts_it(data: dict[str, Any]) -> None:
    assume("monitoring" in data)
    for manifest in monitoring_of(planned(data)):
        if manifest["kind"] == "ConfigMap":
            assert kubernetes_schema.violations(manifest, "1.35") == []
        else:
            assert custom_resource.violations(manifest, CRDS) == []


@examples(40)
@given(data=sound_specifications())
def test_promtool_accepts_the_rules(promtool: Path, tmp_path_factory: Any, data: dict[str, Any]) -> None:
    assume("slo" in data)
    plan = planned(data)
    assert plan.monitoring is not None
    path = tmp_path_factory.mktemp("rules") / "rules.yaml"
    path.write_text(rule_file(plan, plan.monitoring), encoding="utf-8")
    done = subprocess.run([promtool, "check", "rules", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
