"""PD406: an image of AWS holds what AWS says."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.catalog.rows import ImageRow
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each custom row that gives a catalogued tag other versions."""
    for index, row in enumerate(facts.spec.custom_images):
        known = facts.built_in.images.get(row.tag)
        if known is None or not (row.mirrored_as or row.repository in _addresses(facts, known)):
            continue
        for name in ("ray_version", "vllm_version", "nixl_version"):
            stated, actual = getattr(row, name), getattr(known, name)
            if stated != actual:
                yield Violation(
                    f"custom_images.{index}.{name}",
                    f"{stated}, but {row.tag} holds {actual}",
                    "remove the row: the catalogue has the tag",
                )


def _addresses(facts: Facts, image: ImageRow) -> set[str]:
    """Return every repository in which AWS publishes an image."""
    mirrors = facts.built_in.registries.values() if image.mirrored_as else ()
    return {image.repository, *(registry.repository(image.mirrored_as or "") for registry in mirrors)}


RULE = Rule(
    code="PD406",
    severity=Severity.ERROR,
    title="An image of AWS holds what AWS says",
    rationale="rayVersion must be the Ray in the image: KubeRay chooses its health probes by it.",
    source="KubeRay 1.7.0 pod.go, supportsUnifiedHealthCheck; the catalogue, images.yaml",
    check=check,
)
