"""PD211: AWS's private registry of the region is known."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation where the image comes from the private registry of a region without a known account."""
    if facts.image is None or facts.image.mirrored_as is None or facts.spec.image.registry != "private":
        return
    if facts.registry is None:
        yield Violation(
            "image.registry",
            f"the account of AWS's registry in {facts.spec.region} is not known ({len(facts.catalog.registries)} are)",
            "set it to public, or copy the image into a registry of your own and state it in custom_images",
        )


RULE = Rule(
    code="PD211",
    severity=Severity.ERROR,
    title="AWS's private registry of the region is known",
    rationale="The account differs in 20 regions: a guessed one ends in ImagePullBackOff.",
    source="the catalogue, registries.yaml",
    check=check,
)
