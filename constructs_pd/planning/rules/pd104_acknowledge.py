"""PD104: what is acknowledged is a warning that exists."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for an unknown code, for an error's code and for a code given twice."""
    from constructs_pd.planning.rules import RULES  # this rule reads the list that it stands in

    severities = {rule.code: rule.severity for rule in RULES}
    codes = [acknowledge.code for acknowledge in facts.spec.acknowledge]
    for index, code in enumerate(codes):
        subject = f"acknowledge.{index}.code"
        if code not in severities:
            yield Violation(subject, f"there is no rule {code}", "remove it; the rules' codes are PD1xx to PD4xx")
        elif severities[code] is Severity.ERROR:
            yield Violation(subject, f"{code} is an error and cannot be acknowledged", "mend what it names")
        elif code in codes[:index]:
            yield Violation(subject, f"{code} is acknowledged more than once", "keep one of them")


RULE = Rule(
    code="PD104",
    severity=Severity.ERROR,
    title="Only warnings that exist can be acknowledged, each once",
    rationale="What cannot be acknowledged would seem to be.",
    source="this library",
    check=check,
)
