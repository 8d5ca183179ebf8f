"""PD305: vLLM has a backend for the model's latent attention."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.attention import is_latent, is_sparse
from constructs_pd.planning.compute_capability import capability
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

LEAST_MAJOR_OF_SPARSE = 9


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a type of KV cache and for each GPU that no backend of latent attention takes."""
    model = facts.model
    if model is None or not is_latent(model):
        return
    if facts.spec.model.kv_cache_dtype == "fp8_e5m2":
        yield Violation(
            "model.kv_cache_dtype",
            f"fp8_e5m2, which 0 backends of latent attention keep; {model.model} has latent attention",
            "state fp8 or auto",
        )
    for phase in facts.phases:
        gpu = phase.instance.gpu if phase.instance else None
        if gpu is None or not is_sparse(model):
            continue
        if capability(gpu.compute_capability)[0] < LEAST_MAJOR_OF_SPARSE:
            yield Violation(
                f"{phase.name}.instance_type",
                f"{gpu.name} has compute capability {gpu.compute_capability}, sparse latent attention of {model.model} "
                f"needs {LEAST_MAJOR_OF_SPARSE}.0",
                "choose instance types with H100 or newer GPUs",
            )


RULE = Rule(
    code="PD305",
    severity=Severity.ERROR,
    title="vLLM has a backend for the model's latent attention",
    rationale="The engine refuses to start: no valid attention backend was found.",
    source="vLLM 0.26.0 v1/attention/backends/mla/: supported_kv_cache_dtypes, supports_compute_capability",
    check=check,
)
