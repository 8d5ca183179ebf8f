"""PD119: the volume for weights hides nothing of the container."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

# Folders of the system, of the image and of Ray: nothing may be mounted in them.
CLOSED = ("/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr")
CLOSED_OF_THE_IMAGE = ("/home/ray/anaconda3", "/opt/venv", "/tmp/ray")
# A volume may be mounted in these, and would hide what they hold when mounted over them.
HOLDING = ("/opt", "/root", "/var", "/workspace")


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a mount path in a closed folder, or over one that the container needs."""
    cache = facts.spec.model_cache
    if cache is None:
        return
    path, closed = PurePosixPath(cache.mount_path), CLOSED + CLOSED_OF_THE_IMAGE
    inside = [folder for folder in closed if path.is_relative_to(folder)]
    over = [folder for folder in closed + HOLDING if PurePosixPath(folder).is_relative_to(path)]
    if inside or over:
        yield Violation(
            "model_cache.mount_path",
            f"{cache.mount_path!r} lies in {inside[0]!r}" if inside else f"{cache.mount_path!r} hides {over[0]!r}",
            "choose a folder of its own, such as '/models'",
        )


RULE = Rule(
    code="PD119",
    severity=Severity.ERROR,
    title="The volume for weights hides nothing of the container",
    rationale="The volume hides what lies there: shared memory, drivers or Ray itself.",
    source="the ray-llm image; Kubernetes documentation, Volumes",
    check=check,
)
