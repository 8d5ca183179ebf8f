"""Hybrids of Mamba 2 and attention: Nemotron-H, Nemotron 3 and Granite 4."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from constructs_pd.planning.models.config_reader import MOST_LAYERS, ConfigReader
from constructs_pd.planning.models.errors import missing_field
from constructs_pd.planning.models.families.parts import (
    Heads,
    attention,
    embeddings,
    expert_count,
    experts,
    gated_mlp,
    heads,
    plain_mlp,
    require_known_layers,
    router,
    vocabulary,
    width,
)
from constructs_pd.planning.models.families.qwen_hybrid import state_element_bytes
from constructs_pd.planning.models.layers import CacheGroup, StateGroup
from constructs_pd.planning.models.matrices import Matrix, Outline, vector

_LETTERS: Final = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe"}


@dataclass(frozen=True, slots=True)
class _Mamba:
    """Dimensions of Mamba 2."""

    heads: int
    head_dim: int
    groups: int
    state_dim: int
    kernel: int
    bias: bool
    conv_bias: bool

    @property
    def _inner(self) -> int:
        return self.heads * self.head_dim

    def state(self, element_bytes: int | None) -> StateGroup:
        """Return the state of a layer. Source: vLLM 0.26.0 mamba_utils.py, mamba2_state_shape."""
        return StateGroup(
            "mamba2",
            1,
            self._inner,
            self.groups,
            2 * self.state_dim,
            self.kernel - 1,
            self.heads,
            self.head_dim,
            self.state_dim,
            element_bytes,
        )

    def matrices(self, path: str, hidden: int) -> Iterator[Matrix]:
        """Yield the matrices; groups are repeated where GPUs outnumber them. Source: layers/mamba/mamba_mixer2.py."""
        grouped_rows = 2 * self.groups * self.state_dim
        yield Matrix(f"{path}.in_proj", 2 * self._inner + self.heads, hidden, "rows")
        yield Matrix(f"{path}.in_proj", grouped_rows, hidden, "heads", heads=self.groups)
        columns = self.kernel + (1 if self.conv_bias else 0)
        yield Matrix(f"{path}.conv1d", self._inner, columns, "rows", linear=False)
        yield Matrix(f"{path}.conv1d", grouped_rows, columns, "heads", heads=self.groups, linear=False)
        yield vector(f"{path}.decay", 3 * self.heads, "rows")
        yield vector(f"{path}.norm", self._inner, "rows")
        yield Matrix(f"{path}.out_proj", hidden, self._inner, "columns")
        if self.bias:
            yield vector(f"{path}.in_proj", 2 * self._inner + self.heads + grouped_rows, "rows")
            yield vector(f"{path}.out_proj", hidden)


def nemotron_h(config: ConfigReader) -> Outline:
    """Count Nemotron-H and Nemotron 3, whose layers are each one of Mamba, attention, feed-forward or experts.

    The recurrent state is float32 unless the file says otherwise. Source: vLLM 0.26.0 models/nemotron_h.py;
    models/config.py, NemotronHForCausalLMConfig.
    """
    hidden = width(config)
    kinds = _nemotron_kinds(config)
    shape = heads(config, hidden)
    mamba = _Mamba(
        config.integer("mamba_num_heads", most=100_000),
        config.integer("mamba_head_dim", most=100_000),
        config.integer("n_groups", most=100_000),
        config.integer("ssm_state_size", most=100_000),
        config.integer("conv_kernel", most=1_000),
        config.flag("use_bias", False),
        config.flag("use_conv_bias", True),
    )
    intermediate = config.integer("intermediate_size") if "mlp" in kinds else 0
    bias = config.flag("mlp_bias", False)
    moe = _NemotronExperts.read(config) if "moe" in kinds else None
    words = vocabulary(config)

    def matrices() -> Iterator[Matrix]:
        for index, kind in enumerate(kinds):
            path = f"layers.{index}.mixer"
            if kind == "mamba":
                yield from mamba.matrices(path, hidden)
            elif kind == "attention":
                yield from attention(path, hidden, shape)
            elif moe is not None and kind == "moe":
                yield from moe.matrices(path, hidden)
            else:
                yield from plain_mlp(path, hidden, intermediate, bias=bias)
            yield vector(f"layers.{index}.norm", hidden)
        yield from embeddings(config, hidden, words, tied=False)

    state = mamba.state(state_element_bytes(config, "mamba_ssm_cache_dtype") or 4)
    return Outline(shape.query, shape.kv, _kept(kinds, shape, state), matrices)


@dataclass(frozen=True, slots=True)
class _NemotronExperts:
    """Dimensions of Nemotron 3's experts; those of its larger models work on a narrower latent vector."""

    count: int
    intermediate: int
    shared: int
    latent: int | None

    @classmethod
    def read(cls, config: ConfigReader) -> _NemotronExperts:
        shared = config.integer("n_shared_experts", default=0, least=0, most=1_000)
        return cls(
            expert_count(config, "n_routed_experts"),
            config.integer("moe_intermediate_size"),
            shared * config.integer("moe_shared_expert_intermediate_size") if shared else 0,
            config.optional("moe_latent_size", most=1_000_000),
        )

    def matrices(self, path: str, hidden: int) -> Iterator[Matrix]:
        yield from router(f"{path}.gate", hidden, self.count, bias=True)
        yield from experts(path, self.latent or hidden, self.intermediate, self.count, gated=False)
        if self.latent is not None:
            yield Matrix(f"{path}.fc1_latent_proj", self.latent, hidden, "whole")
            yield Matrix(f"{path}.fc2_latent_proj", hidden, self.latent, "whole")
        if self.shared:
            yield from plain_mlp(f"{path}.shared_experts", hidden, self.shared)


def _nemotron_kinds(config: ConfigReader) -> tuple[str, ...]:
    letters = config.text("hybrid_override_pattern")
    names = config.texts("layers_block_type")
    if letters is not None:
        require_known_layers(config, "hybrid_override_pattern", letters, _LETTERS.keys())
        kinds = tuple(_LETTERS[letter] for letter in letters)
    elif names is not None:
        require_known_layers(config, "layers_block_type", names, set(_LETTERS.values()))
        kinds = names
    else:
        raise missing_field(config.field("hybrid_override_pattern"))
    # The newest files leave the number of layers to the list.
    config.length("num_hidden_layers", kinds, config.integer("num_hidden_layers", default=len(kinds), most=MOST_LAYERS))
    return kinds


def granite_hybrid(config: ConfigReader) -> Outline:
    """Count Granite 4. Source: vLLM 0.26.0 models/granitemoehybrid.py; the recurrent state has the model's type."""
    hidden, layers = width(config), config.layers()
    shape = heads(config, hidden)
    kinds = config.texts("layer_types") or config.texts("layers_block_type")
    if kinds is None:
        raise missing_field(config.field("layer_types"))
    config.length("layer_types", kinds, layers)
    require_known_layers(config, "layer_types", kinds, {"mamba", "attention"})
    mamba = _granite_mamba(config, hidden)
    count = config.integer("num_local_experts", default=0, least=0, most=10_000)
    expert = config.integer("intermediate_size") if count else 0
    shared = config.integer("shared_intermediate_size", default=0, least=0)
    bias = config.flag("attention_bias", False)
    words = vocabulary(config)

    def matrices() -> Iterator[Matrix]:
        for index, kind in enumerate(kinds):
            path = f"layers.{index}"
            if kind == "mamba":
                yield from mamba.matrices(f"{path}.mamba", hidden)
            else:
                yield from attention(f"{path}.self_attn", hidden, shape, bias=bias, output_bias=bias)
            if count:
                yield from router(f"{path}.block_sparse_moe.router", hidden, count)
                yield from experts(f"{path}.block_sparse_moe", hidden, expert, count)
            if shared:
                yield from gated_mlp(f"{path}.shared_mlp", hidden, shared)
            yield vector(f"{path}.norms", 2 * hidden)
        yield from embeddings(config, hidden, words, tied=False)

    return Outline(shape.query, shape.kv, _kept(kinds, shape, mamba.state(None)), matrices)


def _granite_mamba(config: ConfigReader, hidden: int) -> _Mamba:
    heads_ = config.integer("mamba_n_heads", most=100_000)
    inner = config.integer("mamba_expand", default=2, most=1_000) * hidden
    config.divides(heads_, inner, "mamba_n_heads", "mamba_expand * hidden_size")
    return _Mamba(
        heads_,
        inner // heads_,
        config.integer("mamba_n_groups", most=100_000),
        config.integer("mamba_d_state", most=100_000),
        config.integer("mamba_d_conv", most=1_000),
        config.flag("mamba_proj_bias", False),
        config.flag("mamba_conv_bias", True),
    )


def _kept(kinds: tuple[str, ...], shape: Heads, state: StateGroup) -> tuple[CacheGroup | StateGroup, ...]:
    kept: dict[str, CacheGroup | StateGroup] = {"mamba": state, "attention": shape.cache()}
    return tuple(kept[kind] for kind in kinds if kind in kept)
