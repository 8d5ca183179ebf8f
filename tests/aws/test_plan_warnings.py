"""The plan's warnings in the CDK's own validation report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aws_cdk import App, Stack, Stage

from constructs_pd import DeploymentPlan, EksGpuNodeGroups
from support.specs import plan_with
from support.template import CLUSTER, stack, subnet_of


def report(app: App) -> list[dict[str, Any]]:
    text = (Path(app.synth().directory) / "validation-report.json").read_text(encoding="utf-8")
    reports: list[dict[str, Any]] = json.loads(text)["pluginReports"]
    return [found for found in reports if found["pluginName"] == "constructs-pd"]


def app_with(*plans: DeploymentPlan) -> App:
    app = App()
    for plan in plans:
        EksGpuNodeGroups(stack(plan, app), "gpu", plan=plan, cluster=CLUSTER, subnet=subnet_of(plan))
    return app


def test_open_warnings_stand_there_under_their_codes_and_do_not_fail_the_synth() -> None:
    plan = plan_with({"acknowledge": None})
    (found,) = report(app_with(plan))
    assert found["conclusion"] == "success"
    assert [violation["ruleName"] for violation in found["violations"]] == [
        "PD115",
        "PD206",
        "PD206",
        "PD412/vllm-52234",
    ]
    first = found["violations"][1]
    assert first["severity"] == "warning"
    assert first["description"] == ("decode.instance_type: g6.8xlarge has no GPUDirect RDMA between EFA and its GPUs")
    assert first["suggestedFix"] == plan.findings[1].remedy
    assert first["ruleMetadata"] == {"source": plan.findings[1].source}
    assert first["violatingConstructs"][0]["constructPath"] == "qwen35-9b/gpu"


def test_what_the_plan_acknowledges_stands_there_with_its_reason() -> None:
    (found,) = report(app_with(plan_with()))
    assert found["violations"] == []
    suppressed = {(item["ruleName"], item["acknowledgedId"], item["reason"]) for item in found["suppressedViolations"]}
    assert suppressed == {
        (
            "PD206",
            "constructs-pd::PD206",
            "AWS's own sample runs NIXL over EFA on g6.8xlarge; answers are compared before production use",
        ),
        (
            "PD115",
            "constructs-pd::PD115",
            "one node per phase is where this sample starts; its nodes are upgraded by hand",
        ),
        (
            "PD412/vllm-52234",
            "constructs-pd::PD412/vllm-52234",
            "no vLLM release is without it; failed hand-overs are watched before production use",
        ),
    }


def test_a_plan_without_warnings_reports_nothing() -> None:
    app = app_with(plan_with().model_copy(update={"findings": ()}))
    assert not (Path(app.synth().directory) / "validation-report.json").exists()


def test_two_deployments_report_each_its_own() -> None:
    silent, loud = plan_with(), plan_with({"name": "loud", "acknowledge": None})
    found = report(app_with(silent, loud))
    assert [len(one["violations"]) for one in found] == [0, 4]


def test_an_acknowledgement_of_one_deployment_does_not_cover_another() -> None:
    loud, silent = plan_with({"name": "loud", "acknowledge": None}), plan_with()
    found = report(app_with(loud, silent))
    assert [len(one["violations"]) for one in found] == [4, 0]


def test_a_stage_of_a_pipeline_reports_too() -> None:
    plan, app = plan_with({"acknowledge": None}), App()
    stage = Stage(app, "production")
    scope = Stack(stage, "s")
    EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=CLUSTER, subnet=subnet_of(plan))
    app.synth()
    texts = [path.read_text(encoding="utf-8") for path in Path(app.outdir).rglob("validation-report.json")]
    assert sum("production/s/gpu" in text for text in texts) >= 1
