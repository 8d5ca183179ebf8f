"""Codes of findings that no rule makes: mistakes in a file's form, and constructs that do not fit together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from constructs_pd.findings import Finding, Severity


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of finding.

    Attributes:
        code: Stable identifier, PD0xx for files, PD5xx for constructs.
        title: What must hold, in one line.
        rationale: What happens otherwise.
        source: Where that comes from.
        severity: Whether it stops the plan.
    """

    code: str
    title: str
    rationale: str
    source: str
    severity: Severity = Severity.ERROR

    def finding(self, subject: str, message: str, remedy: str, location: str | None = None) -> Finding:
        """Return a finding with this code."""
        return Finding(self.code, self.severity, subject, message, remedy, self.source, location)


_TYPES: Final = "the specification's types (constructs_pd/planning/spec.py)"

FILE: Final = Code(
    "PD001",
    "The file is readable YAML that holds one mapping with unique keys",
    "YAML itself takes the last of two equal keys and says nothing.",
    "YAML",
)
UNKNOWN_FIELD: Final = Code(
    "PD002", "Every field exists", "A misspelled field would be a setting that is silently not made.", _TYPES
)
MISSING_FIELD: Final = Code(
    "PD003", "Every required field is there", "The planner would have to guess what to deploy, and where.", _TYPES
)
UNSOUND_VALUE: Final = Code(
    "PD004",
    "Every value has the right type and range",
    "Kubernetes, Ray or vLLM refuses it later, or reads something else into it.",
    _TYPES,
)
LITERAL_SECRET: Final = Code(
    "PD005",
    "A secret is given by reference",
    "It would stand in the manifests, in the repository and in every build log.",
    _TYPES,
)
NOTHING_TO_ACKNOWLEDGE: Final = Code(
    "PD006",
    "What is acknowledged occurs",
    "An acknowledgement that outlives its warning hides the next one of its kind.",
    "this library",
    Severity.WARNING,
)
OTHER_PLAN: Final = Code(
    "PD501",
    "Constructs that belong together render one plan",
    "Names, labels and ports of the two would differ.",
    "this library",
)
SECOND_SERVICE: Final = Code(
    "PD502",
    "A cluster serves one service",
    "A RayService contains its cluster; two of them would be two clusters.",
    "KubeRay 1.7.0, RayService",
)
PATCHED_CLUSTER: Final = Code(
    "PD503",
    "A cluster is patched through the service that contains it",
    "The patch would stand on an object that is no longer written, and be lost in silence.",
    "this library",
)
TAKEN_NAME: Final = Code(
    "PD504",
    "A deployment's name is used once, and a namespace is written once",
    "Of two objects with one name the last one applied wins, and nodes are selected by the deployment's name alone.",
    "Kubernetes documentation, Object Names and IDs",
)
SYSTEM_NAMESPACE: Final = Code(
    "PD505",
    "A namespace that Kubernetes creates is not written",
    "Deleting the manifests would delete it with everything in it.",
    "Kubernetes documentation, Initial namespaces",
)

OTHER_CODES: Final = (
    FILE,
    UNKNOWN_FIELD,
    MISSING_FIELD,
    UNSOUND_VALUE,
    LITERAL_SECRET,
    NOTHING_TO_ACKNOWLEDGE,
    OTHER_PLAN,
    SECOND_SERVICE,
    PATCHED_CLUSTER,
    TAKEN_NAME,
    SYSTEM_NAMESPACE,
)
