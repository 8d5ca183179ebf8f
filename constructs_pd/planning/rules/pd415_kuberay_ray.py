"""PD415: KubeRay renders the Ray in the image as the manifests expect."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.versions import version_key


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a Ray that is older than the operator's present health checks."""
    kuberay, image = facts.kuberay, facts.image
    if kuberay is None or image is None:
        return
    if version_key(image.ray_version) < version_key(kuberay.least_ray_version):
        yield Violation(
            "image.tag",
            f"{image.tag} holds Ray {image.ray_version}, KubeRay {kuberay.version} needs {kuberay.least_ray_version}",
            "use a newer image",
        )


RULE = Rule(
    code="PD415",
    severity=Severity.ERROR,
    title="KubeRay renders the Ray in the image as the manifests expect",
    rationale="For an older Ray the operator writes probes that run a shell in the pod, which nobody tried with this "
    "image.",
    source="KubeRay 1.7.0 pod.go, supportsUnifiedHealthCheck",
    check=check,
)
