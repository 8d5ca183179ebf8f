"""The architectures that can be counted, and those that are refused with a reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from constructs_pd.planning.models.config_reader import ConfigReader
from constructs_pd.planning.models.families import (
    deci,
    dense,
    experts_models,
    gemma4,
    latent,
    llama4,
    mamba_hybrid,
    minimax_m3,
    qwen_hybrid,
    sliding_experts,
    vision,
)
from constructs_pd.planning.models.matrices import Matrix, Outline

Read = Callable[[ConfigReader], Outline]
See = Callable[[ConfigReader, ConfigReader, int], Iterator[Matrix]]


@dataclass(frozen=True, slots=True)
class Family:
    """How an architecture is counted.

    Attributes:
        read: Reads its language part.
        see: Counts its vision tower, of an architecture that has one.
    """

    read: Read
    see: See | None = None


# Names as in vLLM 0.26.0 model_executor/models/registry.py.
ARCHITECTURES: Final[Mapping[str, Family]] = {
    "LlamaForCausalLM": Family(dense.llama),
    "MistralForCausalLM": Family(dense.llama),
    "Phi3ForCausalLM": Family(dense.llama),
    "GraniteForCausalLM": Family(dense.llama),
    "Qwen2ForCausalLM": Family(dense.qwen2),
    "MiMoForCausalLM": Family(dense.qwen2),
    "Qwen3ForCausalLM": Family(dense.qwen3),
    "Qwen3VLForConditionalGeneration": Family(dense.qwen3, vision.qwen),
    "Gemma2ForCausalLM": Family(dense.gemma2),
    "Gemma3ForCausalLM": Family(dense.gemma3),
    "Gemma3ForConditionalGeneration": Family(dense.gemma3, vision.siglip),
    "Gemma4ForCausalLM": Family(gemma4.gemma4),
    "Gemma4ForConditionalGeneration": Family(gemma4.gemma4, vision.gemma4),
    "DeciLMForCausalLM": Family(deci.deci),
    "MixtralForCausalLM": Family(experts_models.mixtral),
    "Qwen3MoeForCausalLM": Family(experts_models.qwen3_moe),
    "Qwen3VLMoeForConditionalGeneration": Family(experts_models.qwen3_moe, vision.qwen),
    "Glm4MoeForCausalLM": Family(experts_models.glm4_moe),
    "MiniMaxM2ForCausalLM": Family(experts_models.minimax_m2),
    "MiniMaxM3SparseForCausalLM": Family(minimax_m3.minimax_m3),
    "MiniMaxM3SparseForConditionalGeneration": Family(minimax_m3.minimax_m3, vision.minimax),
    "GptOssForCausalLM": Family(experts_models.gpt_oss),
    "Llama4ForCausalLM": Family(llama4.llama4),
    "Llama4ForConditionalGeneration": Family(llama4.llama4, vision.llama4),
    "MiMoV2FlashForCausalLM": Family(sliding_experts.mimo_v2),
    "Step3p5ForCausalLM": Family(sliding_experts.step3p5),
    "DeepseekV2ForCausalLM": Family(latent.deepseek),
    "DeepseekV3ForCausalLM": Family(latent.deepseek),
    "DeepseekV32ForCausalLM": Family(latent.deepseek),
    "GlmMoeDsaForCausalLM": Family(latent.deepseek),
    "Glm4MoeLiteForCausalLM": Family(latent.deepseek),
    "KimiK25ForConditionalGeneration": Family(latent.deepseek, vision.kimi),
    "Qwen3NextForCausalLM": Family(qwen_hybrid.qwen3_next),
    "Qwen3_5ForConditionalGeneration": Family(qwen_hybrid.qwen3_5, vision.qwen),
    "Qwen3_5MoeForConditionalGeneration": Family(qwen_hybrid.qwen3_5, vision.qwen),
    "NemotronHForCausalLM": Family(mamba_hybrid.nemotron_h),
    "GraniteMoeHybridForCausalLM": Family(mamba_hybrid.granite_hybrid),
}

_NOT_IN_VLLM: Final = "vLLM 0.26.0 has no model of this name"
REFUSED: Final[Mapping[str, str]] = {
    "DeepseekV4ForCausalLM": "its compressed caches and their paddings are not counted here",
    "KimiK3ForConditionalGeneration": _NOT_IN_VLLM,
    "KimiLinearForCausalLM": "Kimi Delta Attention is not counted here",
    "MiniMaxM3ForCausalLM": f"{_NOT_IN_VLLM}; the published one is MiniMaxM3SparseForConditionalGeneration",
    "Step3p7FlashForCausalLM": f"{_NOT_IN_VLLM}; the published one is Step3p7ForConditionalGeneration",
    "Step3p7ForConditionalGeneration": "its vision tower is not counted here",
}
