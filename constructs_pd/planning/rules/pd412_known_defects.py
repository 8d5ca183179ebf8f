"""PD412: the planned versions are without known defects that the deployment meets."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.defects import met_defects
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

SUBJECTS = {"kuberay": "kuberay_version", "nixl": "image.tag", "ray": "image.tag", "vllm": "image.tag"}


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each defect that the planned versions have and whose condition holds."""
    for row, version in met_defects(facts):
        fixed = f"fixed in {row.first_fixed}" if row.first_fixed else "no release is known to be without it"
        yield Violation(
            SUBJECTS[row.component],
            f"{row.component} {version} ({fixed}): {row.title}; {row.effect}",
            row.workaround,
            defect=row.id,
            severity=Severity(row.severity),
        )


RULE = Rule(
    code="PD412",
    severity=Severity.WARNING,
    title="The planned versions are without known defects that the deployment meets",
    rationale="Others met it; docs/known_defects.md has each with its versions, effect and workaround. A defect with "
    "which the deployment could not work is an error.",
    source="the catalogue, known_defects.yaml; its page names each defect's threads",
    check=check,
)
