"""Qwen's hybrids: three layers of Gated DeltaNet to one of attention. Qwen3-Next, Qwen3.5 and Qwen3.6."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from constructs_pd.planning.models.config_reader import ConfigReader
from constructs_pd.planning.models.errors import ModelConfigError, shown
from constructs_pd.planning.models.families.experts_models import sparse_layers
from constructs_pd.planning.models.families.parts import (
    attention,
    embeddings,
    expert_count,
    experts,
    gated_mlp,
    heads,
    listed_layers,
    router,
    vocabulary,
    width,
)
from constructs_pd.planning.models.layers import StateGroup
from constructs_pd.planning.models.matrices import Matrix, Outline, vector

ELEMENT_BYTES: Final = {"float32": 4, "bfloat16": 2, "float16": 2}


def qwen3_next(config: ConfigReader) -> Outline:
    """Count Qwen3-Next, whose recurrent state has the model's type.

    Source: vLLM 0.26.0 models/qwen3_next.py; no entry in models/config.py changes mamba_ssm_cache_dtype from auto.
    """
    return _qwen(config, fused=True, state_bytes=None, always_gated=True)


def qwen3_5(config: ConfigReader) -> Outline:
    """Count Qwen3.5 and Qwen3.6, dense and with experts; their files say which type the recurrent state has.

    Source: vLLM 0.26.0 models/qwen3_5.py; models/config.py, Qwen3_5ForConditionalGenerationConfig.
    """
    return _qwen(config, fused=False, state_bytes=state_element_bytes(config, "mamba_ssm_dtype"), always_gated=False)


def state_element_bytes(config: ConfigReader, name: str) -> int | None:
    """Return the bytes of an element of a state whose type a field names, or none where the field is missing."""
    dtype = config.text(name)
    if dtype is None or dtype == "auto":
        return None
    if dtype not in ELEMENT_BYTES:
        raise ModelConfigError(config.field(name), shown(dtype), f"known are {', '.join(ELEMENT_BYTES)}")
    return ELEMENT_BYTES[dtype]


@dataclass(frozen=True, slots=True)
class _DeltaNet:
    """Dimensions of Gated DeltaNet."""

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    kernel: int

    def state(self, element_bytes: int | None) -> StateGroup:
        """Return the state of a layer. Source: vLLM 0.26.0 mamba_utils.py, gated_delta_net_state_shape."""
        return StateGroup(
            "gdn",
            1,
            self._conv_dim,
            0,
            0,
            self.kernel - 1,
            self.value_heads,
            self.value_dim,
            self.key_dim,
            element_bytes,
        )

    @property
    def _conv_dim(self) -> int:
        return 2 * self.key_heads * self.key_dim + self.value_heads * self.value_dim

    def matrices(self, path: str, hidden: int, *, fused: bool) -> Iterator[Matrix]:
        """Yield the matrices. Source: vLLM 0.26.0 layers/mamba/gdn/qwen_gdn_linear_attn.py."""
        values = self.value_heads * self.value_dim
        if fused:
            yield Matrix(f"{path}.in_proj_qkvz", self._conv_dim + values, hidden, "rows")
            yield Matrix(f"{path}.in_proj_ba", 2 * self.value_heads, hidden, "rows")
        else:
            yield Matrix(f"{path}.in_proj_qkv", self._conv_dim, hidden, "rows")
            yield Matrix(f"{path}.in_proj_z", values, hidden, "rows")
            yield Matrix(f"{path}.in_proj_b", self.value_heads, hidden, "rows")
            yield Matrix(f"{path}.in_proj_a", self.value_heads, hidden, "rows")
        yield Matrix(f"{path}.conv1d", self._conv_dim, self.kernel, "rows", linear=False)
        yield vector(f"{path}.decay", 2 * self.value_heads, "rows")
        yield vector(f"{path}.norm", self.value_dim)
        yield Matrix(f"{path}.out_proj", hidden, values, "columns")


def _delta_net(config: ConfigReader) -> _DeltaNet:
    key_heads = config.integer("linear_num_key_heads", most=100_000)
    value_heads = config.integer("linear_num_value_heads", most=100_000)
    config.divides(key_heads, value_heads, "linear_num_key_heads", "linear_num_value_heads")
    return _DeltaNet(
        key_heads,
        value_heads,
        config.integer("linear_key_head_dim", most=100_000),
        config.integer("linear_value_head_dim", most=100_000),
        config.integer("linear_conv_kernel_dim", most=1_000),
    )


def _kinds(config: ConfigReader, layers: int) -> tuple[str, ...]:
    every = config.integer("full_attention_interval", default=4, most=1_000)
    return listed_layers(config, layers, {"linear_attention", "full_attention"}) or tuple(
        "linear_attention" if (index + 1) % every else "full_attention" for index in range(layers)
    )


def _qwen(config: ConfigReader, *, fused: bool, state_bytes: int | None, always_gated: bool) -> Outline:
    hidden, layers = width(config), config.layers()
    shape, linear = heads(config, hidden), _delta_net(config)
    kinds = _kinds(config, layers)
    gated = always_gated or config.flag("attn_output_gate", True)
    has_experts = config.has("num_experts") and config.raw("num_experts") != 0
    sparse = sparse_layers(config, layers) if has_experts else (False,) * layers
    count = expert_count(config, "num_experts") if has_experts else 0
    expert = config.integer("moe_intermediate_size") if has_experts else 0
    shared = config.integer("shared_expert_intermediate_size", default=0, least=0) if has_experts else 0
    dense = config.integer("intermediate_size") if not all(sparse) else 0
    words = vocabulary(config)

    def matrices() -> Iterator[Matrix]:
        for index, (kind, is_sparse) in enumerate(zip(kinds, sparse, strict=True)):
            path = f"layers.{index}"
            if kind == "full_attention":
                yield from attention(f"{path}.self_attn", hidden, shape, gated=gated)
                yield vector(f"{path}.norms", 2 * shape.key_dim)
            else:
                yield from linear.matrices(f"{path}.linear_attn", hidden, fused=fused)
            if is_sparse:
                yield from router(f"{path}.mlp.gate", hidden, count)
                yield from experts(f"{path}.mlp", hidden, expert, count)
                if shared:
                    yield from gated_mlp(f"{path}.mlp.shared_expert", hidden, shared)
                    yield Matrix(f"{path}.mlp.shared_expert_gate", 1, hidden, "whole", linear=False)
            else:
                yield from gated_mlp(f"{path}.mlp", hidden, dense)
            yield vector(f"{path}.norms", 2 * hidden)
        yield from embeddings(config, hidden, words, tied=False)

    kept = tuple(shape.cache() if kind == "full_attention" else linear.state(state_bytes) for kind in kinds)
    return Outline(shape.query, shape.kv, kept, matrices)
