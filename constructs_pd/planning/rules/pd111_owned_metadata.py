"""PD111: labels and annotations hold nothing that the library or the operator reads."""

from collections.abc import Iterable, Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.owned import METADATA_KEYS, METADATA_PREFIXES
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each key that belongs to the library or to the KubeRay operator."""
    yield from _owned("labels", facts.spec.labels)
    for path, pod in facts.pods:
        yield from _owned(f"{path}.labels", pod.labels)
        yield from _owned(f"{path}.annotations", pod.annotations)


def _owned(path: str, keys: Iterable[str]) -> Iterator[Violation]:
    for key in sorted(keys):
        prefixes = (reason for prefix, reason in METADATA_PREFIXES.items() if key.startswith(prefix))
        reason = METADATA_KEYS.get(key) or next(prefixes, None)
        if reason is not None:
            yield Violation(f"{path}.{key}", f"this key is not free: {reason}", "choose a key of your own")


RULE = Rule(
    code="PD111",
    severity=Severity.ERROR,
    title="Labels and annotations hold nothing that the library or the operator reads",
    rationale="Pods leave their Service, their budget or their node group, or the operator overwrites them.",
    source="KubeRay 1.7.0 constant.go and pod.go (labelPod)",
    check=check,
)
