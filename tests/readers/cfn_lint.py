"""CloudFormation templates as cfn-lint reads them: the registry's schemas and some hundred rules."""

from __future__ import annotations

import json
from typing import Any

from cfnlint.api import lint

from support.template import TemplateData

# What the CDK itself writes, by cfn-lint's names of the rules. I1022: ARNs of managed policies, joined by Fn::Join.
EXCUSED = frozenset({"I1022"})


def findings(template: TemplateData, region: str) -> list[str]:
    """Return everything that cfn-lint says for a region, warnings and information included."""
    matches: list[Any] = lint(json.dumps(template), regions=[region], config={"include_checks": ["I"]})
    return [f"{match.rule.id} {match.message}" for match in matches if match.rule.id not in EXCUSED]
