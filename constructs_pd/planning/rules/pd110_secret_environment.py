"""PD110: a variable that is named like a secret has no literal value."""

import re
from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.owned import ENVIRONMENT
from constructs_pd.planning.rules.rule import Rule, Violation

SECRET_NAME = re.compile(r"(TOKEN|PASSWORD|PASSWD|SECRET|CREDENTIALS?|API_?KEY|ACCESS_KEY|PRIVATE_KEY)$", re.IGNORECASE)
# The name of a token of text, which is no secret.
TEXT_TOKEN = re.compile(r"(^|_)(EOS|BOS|PAD|UNK|SEP|CLS|MASK)_TOKEN$", re.IGNORECASE)


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each literal variable whose name ends like a secret's."""
    for path, pod in facts.pods:
        for name in sorted(set(pod.environment) - set(ENVIRONMENT)):
            if SECRET_NAME.search(name) and not TEXT_TOKEN.search(name):
                yield Violation(
                    f"{path}.environment.{name}",
                    f"{len(pod.environment[name])} literal characters in a variable named like a secret",
                    f"move it to secret_environment: {name}: {{secret_name: ..., key: ...}}",
                )


RULE = Rule(
    code="PD110",
    severity=Severity.ERROR,
    title="A variable that is named like a secret has no literal value",
    rationale="It would stand in the manifests, in the repository and in every build log.",
    source="this library",
    check=check,
)
