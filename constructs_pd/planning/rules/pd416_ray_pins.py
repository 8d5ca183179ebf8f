"""PD416: the vLLM and NIXL in the image are those that its Ray was made for."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.versions import version_key


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each version that Ray's extra pins to another, or once where the pins are not known."""
    image = facts.image
    if image is None:
        return
    ray = facts.catalog.ray.get(image.ray_version)
    if ray is None:
        known = ", ".join(sorted(facts.catalog.ray, key=version_key))
        yield Violation(
            "image.tag",
            f"{image.tag} holds Ray {image.ray_version}, and it is known of {known} only which vLLM they were made for",
            f"compare vLLM {image.vllm_version} and NIXL {image.nixl_version} with what ray[llm] of that Ray pins",
        )
        return
    for name, actual, pinned in (
        ("vLLM", image.vllm_version, ray.vllm_version),
        ("NIXL", image.nixl_version, ray.nixl_version),
    ):
        if actual != pinned:
            yield Violation(
                "image.tag",
                f"{image.tag} holds {name} {actual}, and Ray {ray.ray_version} was made for {pinned}",
                "use an image that keeps to ray[llm]'s pins, or try the pair first",
            )


RULE = Rule(
    code="PD416",
    severity=Severity.WARNING,
    title="The vLLM and NIXL in the image are those that its Ray was made for",
    rationale="Ray Serve LLM calls vLLM's inner interfaces, which change from release to release.",
    source="the catalogue, ray.yaml: the pins of ray[llm]",
    check=check,
)
