"""Small configurations of models for tests, one of each family, with numbers that can be worked out by hand."""

from __future__ import annotations

from typing import Any

from support.specs import changed

LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64,
    "intermediate_size": 128,
    "max_position_embeddings": 4096,
    "num_attention_heads": 8,
    "num_hidden_layers": 4,
    "num_key_value_heads": 2,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "vocab_size": 1024,
}
QWEN_HYBRID: dict[str, Any] = {
    **LLAMA,
    "architectures": ["Qwen3NextForCausalLM"],
    "full_attention_interval": 4,
    "head_dim": 16,
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_value_head_dim": 8,
    "num_experts": 8,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 32,
}
NEMOTRON: dict[str, Any] = {
    **LLAMA,
    "architectures": ["NemotronHForCausalLM"],
    "conv_kernel": 4,
    "hybrid_override_pattern": "M*-E",
    "mamba_head_dim": 8,
    "mamba_num_heads": 16,
    "moe_intermediate_size": 32,
    "moe_shared_expert_intermediate_size": 32,
    "n_groups": 2,
    "n_routed_experts": 8,
    "num_experts_per_tok": 2,
    "n_shared_experts": 1,
    "ssm_state_size": 16,
}
# Dimensions as huggingface.co/ibm-granite/granite-4.0-h-small publishes them, 36 layers of Mamba and 4 of attention.
GRANITE: dict[str, Any] = {
    "architectures": ["GraniteMoeHybridForCausalLM"],
    "hidden_size": 4096,
    "intermediate_size": 768,
    "layer_types": [*["mamba"] * 36, *["attention"] * 4],
    "mamba_d_conv": 4,
    "mamba_d_state": 128,
    "mamba_expand": 2,
    "mamba_n_groups": 1,
    "mamba_n_heads": 128,
    "max_position_embeddings": 131072,
    "num_attention_heads": 32,
    "num_hidden_layers": 40,
    "num_key_value_heads": 8,
    "num_local_experts": 72,
    "num_experts_per_tok": 10,
    "shared_intermediate_size": 1536,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
    "vocab_size": 100352,
}
DEEPSEEK: dict[str, Any] = {
    **LLAMA,
    "architectures": ["DeepseekV3ForCausalLM"],
    "first_k_dense_replace": 1,
    "kv_lora_rank": 32,
    "moe_intermediate_size": 32,
    "n_routed_experts": 8,
    "num_experts_per_tok": 2,
    "n_shared_experts": 1,
    "q_lora_rank": 48,
    "qk_nope_head_dim": 16,
    "qk_rope_head_dim": 8,
    "topk_method": "noaux_tc",
    "v_head_dim": 16,
}
GEMMA3: dict[str, Any] = {
    **LLAMA,
    "architectures": ["Gemma3ForCausalLM"],
    "head_dim": 16,
    "num_hidden_layers": 6,
    "sliding_window": 512,
}
# As NVIDIA's Megatron Bridge documents stepfun-ai/Step-3.5-Flash, and vLLM reads it.
STEP: dict[str, Any] = {
    "architectures": ["Step3p5ForCausalLM"],
    "attention_other_setting": {
        "attention_type": "sliding_attention",
        "head_dim": 128,
        "num_attention_groups": 8,
        "num_attention_heads": 96,
    },
    "head_dim": 128,
    "hidden_size": 4096,
    "intermediate_size": 11264,
    "layer_types": [kind for _ in range(12) for kind in ("full_attention", *["sliding_attention"] * 3)][:45],
    "max_position_embeddings": 128000,
    "moe_intermediate_size": 1280,
    "moe_layers_enum": ",".join(map(str, range(3, 45))),
    "moe_num_experts": 288,
    "moe_top_k": 8,
    "num_attention_groups": 8,
    "num_attention_heads": 64,
    "num_hidden_layers": 45,
    "share_expert_dim": 1280,
    "sliding_window": 512,
    "torch_dtype": "bfloat16",
    "use_head_wise_attn_gate": True,
    "vocab_size": 128815,
}


def with_fields(config: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a configuration with other fields; None leaves one out."""
    return changed(config, fields)
