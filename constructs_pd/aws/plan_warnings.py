"""A plan's warnings in the CDK validation report."""

from __future__ import annotations

from importlib.metadata import version

import jsii
from aws_cdk import (
    Acknowledgment,
    IPolicyValidationContext,
    IPolicyValidationPlugin,
    PolicyValidationPluginReport,
    PolicyViolatingResource,
    PolicyViolation,
    Stage,
    Validations,
)
from constructs import Construct

from constructs_pd.findings import Finding
from constructs_pd.planning.deployment_plan import DeploymentPlan

PLUGIN_NAME = "constructs-pd"


@jsii.implements(IPolicyValidationPlugin)
class PlanWarnings:
    """Reports the warnings of a plan under their codes. It succeeds: an error never gets as far as a construct."""

    def __init__(self, findings: tuple[Finding, ...], construct_path: str) -> None:
        self._findings = findings
        self._construct_path = construct_path

    @property
    def name(self) -> str:
        """The plugin's name; acknowledgements are written `constructs-pd::PD206`."""
        return PLUGIN_NAME

    @property
    def version(self) -> str:
        """The library's version."""
        return version("constructs-pd")

    @property
    def rule_ids(self) -> list[str]:
        """The codes that it reports."""
        return sorted({finding.key for finding in self._findings})

    def validate(self, context: IPolicyValidationContext) -> PolicyValidationPluginReport:
        """Return the report."""
        return PolicyValidationPluginReport(
            success=True, violations=[self._violation(finding) for finding in self._findings]
        )

    def _violation(self, finding: Finding) -> PolicyViolation:
        return PolicyViolation(
            rule_name=finding.key,
            description=f"{finding.subject}: {finding.message}",
            fix=finding.remedy,
            severity=str(finding.severity),
            rule_metadata={"source": finding.source},
            violating_resources=[
                PolicyViolatingResource(construct_path=self._construct_path, locations=[finding.subject])
            ],
        )


def of_the_cluster(plan: DeploymentPlan) -> tuple[Finding, ...]:
    """Return what a plan warns of about the cluster that it makes."""
    return tuple(finding for finding in plan.findings if _is_of_the_cluster(finding))


def of_the_deployment(plan: DeploymentPlan) -> tuple[Finding, ...]:
    """Return the other warnings, so that each is reported once."""
    return tuple(finding for finding in plan.findings if not _is_of_the_cluster(finding))


def _is_of_the_cluster(finding: Finding) -> bool:
    return finding.subject.partition(".")[0] in ("eks_cluster", "model_cache")


def report_warnings(construct: Construct, findings: tuple[Finding, ...]) -> None:
    """Have the CDK report a plan's warnings at a construct, those that the plan acknowledges as such."""
    stage = Stage.of(construct)
    if not findings or stage is None:
        return
    Validations.of(stage).add_plugins(PlanWarnings(findings, construct.node.path))
    reasons = {finding.key: finding.acknowledged for finding in findings if finding.acknowledged is not None}
    Validations.of(construct).acknowledge(
        *(Acknowledgment(id=f"{PLUGIN_NAME}::{code}", reason=reason) for code, reason in reasons.items())
    )
