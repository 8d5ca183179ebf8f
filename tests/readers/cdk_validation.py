"""Templates as the CDK's own validation reads them, its default rules as errors, and as cdk-nag's AwsSolutions does.

Run as a program: the CDK decides whether it validates when its Node process starts, and the other tests turn it off.
It prints the validation report of an app with the node groups of every specification that it reads from standard input,
as JSON: a list of changes of the reference, with the properties to override in the decode group. Where a specification
has a cluster made, the app has all its stacks.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from aws_cdk import App, CfnResource, Validations
from cdk_nag import AwsSolutionsChecks
from new_cluster import new_cluster

from constructs_pd import EksGpuNodeGroups
from constructs_pd.aws.plan_warnings import PLUGIN_NAME
from support.specs import plan_with
from support.template import CLUSTER, stack, subnet_of

RULES_AS_ERRORS = {"@aws-cdk/core:validateAgainstDefaultRules": True}


def report(cases: list[dict[str, Any]]) -> dict[str, Any]:
    """Return every violation and every acknowledged one, with the plugins that ran and what they conclude."""
    app = App(context=RULES_AS_ERRORS)
    Validations.of(app).add_plugins(AwsSolutionsChecks())
    for index, case in enumerate(cases):
        plan = plan_with({**case["changes"], "name": f"case-{index}"})
        if plan.eks_cluster is not None:
            new_cluster(app, plan)
            continue
        groups = EksGpuNodeGroups(
            stack(plan, app), "gpu", plan=plan, cluster=CLUSTER, subnet=subnet_of(plan), service_cidr="10.100.0.0/16"
        )
        resource = groups.decode.node.default_child
        assert isinstance(resource, CfnResource)
        for path, value in case.get("overrides", {}).items():
            resource.add_property_override(path, value)
    with suppress(RuntimeError):  # of errors; the report stands on disk all the same
        app.synth()
    written = json.loads((Path(app.outdir) / "validation-report.json").read_text(encoding="utf-8"))
    plugins = written["pluginReports"]
    return {
        "conclusions": {found["pluginName"]: found["conclusion"] for found in plugins},
        "violations": [
            [found["pluginName"], violation["ruleName"], violation["description"]]
            for found in plugins
            for violation in found["violations"]
            if found["pluginName"] != PLUGIN_NAME
        ],
        "acknowledged": [
            [violation["ruleName"], violation["reason"]]
            for found in plugins
            for violation in found.get("suppressedViolations", [])
            if found["pluginName"] != PLUGIN_NAME
        ],
    }


if __name__ == "__main__":
    json.dump(report(json.load(sys.stdin)), sys.stdout)
