"""PD417: it is known that the machine image's driver runs the container image."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.catalog.rows import ImageRow
from constructs_pd.planning.drivers import node_driver
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for an image whose CUDA or its least driver is not known, and for AMIs whose driver is not."""
    image = facts.image
    if image is None:
        return
    if facts.cuda is None:
        yield _of_image(image, sorted(facts.catalog.cuda))
    for phase in facts.phases:
        if node_driver(phase, facts) is None:
            least = f" {facts.cuda.least_driver_branch}" if facts.cuda else ""
            yield Violation(
                f"{phase.name}.ami_id",
                f"nobody says which driver {phase.spec.ami_id} holds; it was not compared with the driver{least} that "
                "the container image needs",
                f"state the driver's branch as {phase.name}.ami_driver_branch",
            )


def _of_image(image: ImageRow, known: list[str]) -> Violation:
    if image.cuda_version is None:
        return Violation(
            "image.tag",
            f"nobody says which CUDA {image.tag} holds; the driver that it needs was compared with 0 of 2 phases",
            "state cuda_version in its row of custom_images",
        )
    return Violation(
        "image.tag",
        f"{image.tag} holds CUDA {image.cuda_version}, and the least driver is known of {' and '.join(known)} only",
        "compare NVIDIA's table of CUDA and drivers with the machine images",
    )


RULE = Rule(
    code="PD417",
    severity=Severity.WARNING,
    title="It is known that the machine image's driver runs the container image",
    rationale="With an older driver the engine finds no usable GPU, after image and weights are there.",
    source="the catalogue, cuda.yaml and amis.yaml",
    check=check,
)
