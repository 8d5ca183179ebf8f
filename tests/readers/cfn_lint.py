"""CloudFormation templates as cfn-lint reads them: the registry's schemas and some hundred rules."""

from __future__ import annotations

import json
from typing import Any

from cfnlint.api import lint

from support.template import TemplateData

# By cfn-lint's names of the rules. I1022, W3005: what the CDK itself writes, ARNs joined by Fn::Join and a DependsOn
# beside a reference. W3010: zones by name, which a plan is made for.
EXCUSED = frozenset({"I1022", "W3005", "W3010"})


def findings(template: TemplateData, region: str) -> list[str]:
    """Return everything that cfn-lint says for a region, warnings and information included."""
    matches: list[Any] = lint(json.dumps(template), regions=[region], config={"include_checks": ["I"]})
    return [f"{match.rule.id} {match.message}" for match in matches if match.rule.id not in EXCUSED]
