import pytest

from constructs_pd.planning.rules.pd305_latent_attention import RULE
from support.rules import findings_of

LATENT, SPARSE = "deepseek-ai/DeepSeek-R1", "deepseek-ai/DeepSeek-V3.2"


def of(source: str, instance: str, kv_cache_dtype: str = "auto") -> dict[str, object]:
    return {
        "model": {"source": source, "kv_cache_dtype": kv_cache_dtype},
        "prefill.instance_type": instance,
        "decode.instance_type": "p5en.48xlarge",
    }


@pytest.mark.parametrize(
    ("source", "instance", "kv_cache_dtype"),
    [
        (LATENT, "p4de.24xlarge", "auto"),
        (LATENT, "p5.48xlarge", "fp8"),
        (SPARSE, "p5.48xlarge", "auto"),
        (SPARSE, "p6-b200.48xlarge", "fp8"),
        ("Qwen/Qwen3-8B", "p4de.24xlarge", "fp8_e5m2"),
        ("nobody/nothing", "p4de.24xlarge", "fp8_e5m2"),
        (SPARSE, "x", "auto"),
    ],
)
def test_accepts_what_some_backend_takes(source: str, instance: str, kv_cache_dtype: str) -> None:
    assert findings_of(RULE, of(source, instance, kv_cache_dtype)) == []


def test_refuses_a_cache_of_e5m2() -> None:
    (finding,) = findings_of(RULE, of(LATENT, "p5.48xlarge", "fp8_e5m2"))
    assert finding.subject == "model.kv_cache_dtype"
    assert "fp8_e5m2" in finding.message


def test_refuses_sparse_attention_before_hopper_with_both_numbers() -> None:
    (finding,) = findings_of(RULE, of(SPARSE, "p4de.24xlarge"))
    assert finding.subject == "prefill.instance_type"
    assert "compute capability 8.0" in finding.message
    assert "needs 9.0" in finding.message
