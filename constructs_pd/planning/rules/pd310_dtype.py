"""PD310: the model runs in the type that is stated."""

from collections.abc import Iterator, Mapping
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.catalog.rows import ModelRow
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

BFLOAT16_ONLY: Final = ("bfloat16",)
BOTH: Final = ("bfloat16", "float16")
# get_supported_act_dtypes of vLLM's class for each quantization that planning/models/quantization.py knows. ModelOpt's
# are by their algorithm, which chooses the class.
TYPES_OF_QUANTIZATION: Final[Mapping[str, tuple[str, ...]]] = {
    "fp8": BOTH,  # fp8.py, Fp8Config
    "mxfp4": BFLOAT16_ONLY,  # mxfp4.py, Mxfp4Config
    "gpt_oss_mxfp4": BFLOAT16_ONLY,
    "compressed-tensors": BOTH,  # compressed_tensors.py, CompressedTensorsConfig
    "awq": BOTH,  # auto_awq.py
    "gptq": BOTH,  # auto_gptq.py
    "FP8": BOTH,  # modelopt.py, ModelOptFp8Config
    "FP8_PER_CHANNEL_PER_TOKEN": BOTH,
    "FP8_PB_WO": BOTH,
    "NVFP4": BOTH,  # ModelOptNvFp4Config
    "W4A16_NVFP4": BOTH,
    "W4A8_NVFP4_FP8": BOTH,
    "MXFP8": BFLOAT16_ONLY,  # ModelOptMxFp8Config
    "MIXED_PRECISION": BOTH,  # ModelOptMixedPrecisionConfig
}
# Architectures of the model types in config/model.py, _FLOAT16_NOT_SUPPORTED_MODELS: gemma2, gemma3, gemma3_text,
# plamo2 and glm4.
UNSTABLE_IN_FLOAT16: Final = (
    "Gemma2ForCausalLM",
    "Gemma3ForCausalLM",
    "Gemma3ForConditionalGeneration",
    "Glm4ForCausalLM",
    "Plamo2ForCausalLM",
)


def types_of(model: ModelRow) -> tuple[str, ...]:
    """Return the types in which vLLM runs a model; of a quantization that is not known, both."""
    quantization = model.facts.quantization if model.facts else None
    types = TYPES_OF_QUANTIZATION.get(quantization or "", BOTH)
    return BFLOAT16_ONLY if model.architecture in UNSTABLE_IN_FLOAT16 else types


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a type in which vLLM does not run the model."""
    model, stated = facts.model, facts.spec.model.dtype
    if model is None:
        return
    # Without a statement vLLM turns to bfloat16 where an architecture is unstable, and not where a quantization is.
    falls_back = model.architecture in UNSTABLE_IN_FLOAT16
    chosen = model.facts.dtype if stated == "auto" and model.facts and not falls_back else stated
    if chosen in (*types_of(model), "auto"):
        return
    quantized = model.facts.quantization if model.facts and not falls_back else None
    whose = " of its config.json" if stated == "auto" else ""
    runs = f"{quantized} models" if quantized else model.architecture
    yield Violation(
        "model.dtype",
        f"{chosen}{whose}, and vLLM runs {runs} in bfloat16 alone",
        "state bfloat16",
    )


RULE = Rule(
    code="PD310",
    severity=Severity.ERROR,
    title="The model runs in the type that is stated",
    rationale="The engine refuses to start, after the image is there.",
    source="vLLM 0.26.0 config/vllm.py, _get_quantization_config; model_executor/layers/quantization/, "
    "get_supported_act_dtypes; config/model.py, _FLOAT16_NOT_SUPPORTED_MODELS",
    check=check,
)
