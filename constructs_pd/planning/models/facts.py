"""What the planner derives of a model from its config.json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Final, Literal

from constructs_pd.planning.models.config_reader import ConfigReader
from constructs_pd.planning.models.context import stretched_context
from constructs_pd.planning.models.errors import BY_HAND, ModelConfigError, missing_field, shown
from constructs_pd.planning.models.families import ARCHITECTURES, REFUSED, Family
from constructs_pd.planning.models.families.parts import width
from constructs_pd.planning.models.layers import CacheGroup, StateGroup, grouped
from constructs_pd.planning.models.matrices import Matrix, Outline, Split
from constructs_pd.planning.models.quantization import Quantization, quantization
from constructs_pd.planning.models.weight_format import WeightFormat

# A hundred times the largest published model: beyond it a file is wrong, not large.
_MOST_PARAMETERS: Final = 100_000_000_000_000


@dataclass(frozen=True, slots=True)
class WeightGroup:
    """Equal matrices of a model.

    Attributes:
        component: What they are, without the layer's number, such as self_attn.q_proj.
        count: How many there are, the experts of a layer apart.
        rows: Output features.
        columns: Input features.
        split: What tensor parallel splits.
        copies: Experts of a layer.
        heads: Key/value heads, of the split `heads`.
        format: Their number format, or none for the type in which the model runs.
        counted: Whether they count among the model's parameters.
    """

    component: str
    count: int
    rows: int
    columns: int
    split: Split
    copies: int
    heads: int
    format: WeightFormat | None
    counted: bool

    @property
    def parameters(self) -> int:
        """How many numbers they hold."""
        return self.count * self.copies * self.rows * self.columns


@dataclass(frozen=True, slots=True)
class ModelOutline:
    """What a model's config.json says of it without counting its weights.

    Attributes:
        architecture: architectures[0].
        attention: full: every attention layer keeps a cache per token; hybrid: some layers keep a state instead.
        attention_heads: Query heads of an attention layer.
        kv_heads: Key/value heads of an attention layer; 1 where a latent vector stands for all.
        max_position_embeddings: The longest context that it was trained for, in tokens.
    """

    architecture: str
    attention: Literal["full", "hybrid"]
    attention_heads: int
    kv_heads: int
    max_position_embeddings: int


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Everything that the planner derives of a model.

    Attributes:
        outline: What needs no counting.
        dtype: The type in which vLLM runs it where nobody states one.
        quantization: What its checkpoint calls its quantization, or none.
        kv_cache_dtype: The KV cache's type that its checkpoint asks for, or none for the model's own.
        caches: Its layers that keep something for each token.
        states: Its layers that keep a state of fixed size for each request.
        weights: Its matrices.
        experts_per_token: Experts that a token passes in a layer; 1 where there are none.
    """

    outline: ModelOutline
    dtype: str
    quantization: str | None
    kv_cache_dtype: str | None
    caches: tuple[CacheGroup, ...]
    states: tuple[StateGroup, ...]
    weights: tuple[WeightGroup, ...]
    experts_per_token: int = 1

    @property
    def parameters(self) -> int:
        """How many parameters vLLM loads: the vision tower is among them, heads that predict more tokens are not."""
        return sum(group.parameters for group in self.weights if group.counted)


def model_outline(config: Mapping[str, Any]) -> ModelOutline:
    """Return what a config.json says of a model without counting its weights.

    Args:
        config: The file's content.

    Raises:
        ModelConfigError: The file cannot be counted.
    """
    return _read(config)[3]


def model_facts(config: Mapping[str, Any]) -> ModelFacts:
    """Return everything that the planner derives of a model from its config.json.

    Args:
        config: The file's content.

    Raises:
        ModelConfigError: The file cannot be counted.
    """
    top, text, outline, summary = _read(config)
    family = ARCHITECTURES[summary.architecture]
    formats = quantization(top) if top.has("quantization_config") else quantization(text)
    weights = _weights(outline, formats, _vision(family, top, text))
    if sum(group.parameters for group in weights) > _MOST_PARAMETERS:
        raise ModelConfigError("config.json", "more than 100 trillion parameters", "correct the config.json")
    return ModelFacts(
        outline=summary,
        dtype=_dtype(top, text),
        quantization=formats.name,
        kv_cache_dtype=formats.kv_cache_dtype,
        caches=grouped(layer for layer in outline.layers if isinstance(layer, CacheGroup)),
        states=grouped(layer for layer in outline.layers if isinstance(layer, StateGroup)),
        weights=weights,
        experts_per_token=_experts_per_token(text, weights),
    )


def _experts_per_token(text: ConfigReader, weights: tuple[WeightGroup, ...]) -> int:
    if not any(group.component.endswith("experts") for group in weights):
        return 1
    return text.integer(
        "num_experts_per_tok", "num_experts_per_token", "experts_per_token", "top_k_experts", "moe_top_k"
    )


def _read(config: Mapping[str, Any]) -> tuple[ConfigReader, ConfigReader, Outline, ModelOutline]:
    if not isinstance(config, Mapping):
        raise ModelConfigError("config.json", shown(config), "write a mapping")
    top = ConfigReader(config)
    architecture = _architecture(top)
    text = top.mapping("text_config") or top
    if text is not top and not text.has("tie_word_embeddings") and top.has("tie_word_embeddings"):
        tied = {"tie_word_embeddings": top.raw("tie_word_embeddings")}
        text = ConfigReader({**config["text_config"], **tied}, "text_config.")
    context = text.integer("max_position_embeddings", "max_seq_len", default=_default_context(architecture))
    context = stretched_context(context, text)
    outline = ARCHITECTURES[architecture].read(text)
    is_hybrid = any(isinstance(layer, StateGroup) for layer in outline.layers)
    summary = ModelOutline(
        architecture, "hybrid" if is_hybrid else "full", outline.attention_heads, outline.kv_heads, context
    )
    return top, text, outline, summary


def _default_context(architecture: str) -> int | None:
    # The files of Gemma 3's larger models leave it out: transformers 5.24.0 Gemma3TextConfig.
    return 131_072 if architecture.startswith("Gemma3For") else None


def _architecture(top: ConfigReader) -> str:
    names = top.texts("architectures")
    if not names:
        raise missing_field("architectures")
    name = names[0]
    if name in REFUSED:
        raise ModelConfigError("architectures", f"{name}: {REFUSED[name]}", BY_HAND)
    if name not in ARCHITECTURES:
        close = get_close_matches(name, ARCHITECTURES, n=1)
        near = f"{name[:60]!r} is not known" + (f", {close[0]} is" if close else "")
        raise ModelConfigError("architectures", near, BY_HAND)
    return name


def _dtype(top: ConfigReader, text: ConfigReader) -> str:
    """Return the type in which vLLM runs a model: float32 becomes bfloat16. Source: config/model.py, _find_dtype."""
    for reader in (text, top):
        for name in ("dtype", "torch_dtype"):
            stated = reader.text(name)
            if stated in ("bfloat16", "float16"):
                return stated
            if stated not in (None, "auto", "float32"):
                raise ModelConfigError(reader.field(name), shown(stated), "known are bfloat16, float16 and float32")
    return "bfloat16"


def _vision(family: Family, top: ConfigReader, text: ConfigReader) -> tuple[Matrix, ...]:
    if family.see is None:
        return ()
    stated = top.mapping("vision_config")
    if stated is None:
        raise missing_field("vision_config")
    return tuple(family.see(stated, top, width(text)))


def _weights(outline: Outline, formats: Quantization, vision: tuple[Matrix, ...]) -> tuple[WeightGroup, ...]:
    counts: Counter[WeightGroup] = Counter()
    for matrix in (*outline.matrices(), *vision):
        chosen = formats.format_of(matrix.path) if matrix.linear else None
        group = WeightGroup(
            _component(matrix.path),
            1,
            matrix.rows,
            matrix.columns,
            matrix.split,
            matrix.copies,
            matrix.heads,
            chosen,
            matrix.counted,
        )
        counts[group] += 1
        if chosen is not None and matrix.path.endswith(".kv_b_proj"):
            # Latent attention keeps a plain copy of a converted kv_b_proj beside it.
            # vLLM 0.26.0 layers/attention/mla_attention.py, process_weights_after_loading.
            name = f"{group.component} in plain numbers"
            counts[replace(group, component=name, format=None, counted=False)] += 1
    return tuple(replace(group, count=count) for group, count in counts.items())


def _component(path: str) -> str:
    if not path.startswith("layers."):
        return path
    return path.split(".", 2)[2] if path.count(".") > 1 else "layer"
