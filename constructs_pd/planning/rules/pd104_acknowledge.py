"""PD104: what is acknowledged is a warning that exists."""

from collections.abc import Iterator, Mapping

from constructs_pd.findings import Severity
from constructs_pd.planning.catalog.rows import KnownDefectRow
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.rules.suggest import known_names

# Its findings are about one defect each, and so is an acknowledgement of one.
DEFECTS = "PD412"


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for an unknown code or defect, for an error's and for what is given twice."""
    from constructs_pd.planning.rules import RULES  # this rule reads the list that it stands in

    severities = {rule.code: rule.severity for rule in RULES}
    codes = [acknowledge.code for acknowledge in facts.spec.acknowledge]
    for index, code in enumerate(codes):
        subject = f"acknowledge.{index}.code"
        rule, _, defect = code.partition("/")
        if rule not in severities:
            yield Violation(subject, f"there is no rule {rule}", "remove it; the rules' codes are PD1xx to PD4xx")
        elif severities[rule] is Severity.ERROR:
            yield Violation(subject, f"{rule} is an error and cannot be acknowledged", "mend what it names")
        elif rule == DEFECTS or defect:
            yield from _of_defect(subject, rule, defect, facts.catalog.known_defects)
        if code in codes[:index]:
            yield Violation(subject, f"{code} is acknowledged more than once", "keep one of them")


def _of_defect(subject: str, rule: str, defect: str, known: Mapping[str, KnownDefectRow]) -> Iterator[Violation]:
    if rule != DEFECTS:
        yield Violation(subject, f"{rule}/{defect}: only {DEFECTS} has defects with ids", f"write {rule}")
    elif not defect:
        yield Violation(
            subject,
            f"{DEFECTS} stands for {len(known)} known defects, and an acknowledgement for one",
            f"write {DEFECTS}/ and the defect's id, as its warning shows it",
        )
    elif defect not in known:
        yield Violation(subject, f"{defect!r} is none of the {len(known)} known defects", known_names(defect, known))
    elif known[defect].severity == "error":
        yield Violation(subject, f"{rule}/{defect} is an error and cannot be acknowledged", known[defect].workaround)


RULE = Rule(
    code="PD104",
    severity=Severity.ERROR,
    title="Only warnings that exist can be acknowledged, each once",
    rationale="What cannot be acknowledged would seem to be.",
    source="this library",
    check=check,
)
