"""The vision towers of multimodal models. Published checkpoints leave them in the model's own type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from constructs_pd.planning.models.config_reader import MOST_LAYERS, ConfigReader
from constructs_pd.planning.models.matrices import Matrix, Split, vector


def qwen(vision: ConfigReader, top: ConfigReader, text_hidden: int) -> Iterator[Matrix]:
    """Yield the tower of Qwen3-VL and Qwen3.5. Source: vLLM 0.26.0 models/qwen3_vl.py, Qwen3_VisionTransformer."""
    hidden = vision.integer("hidden_size", most=1_000_000)
    merged = hidden * vision.integer("spatial_merge_size", default=2, most=100) ** 2
    patch = vision.integer("in_channels", default=3, most=100) * vision.integer("patch_size", most=1_000) ** 2
    yield from _patches(hidden, patch * vision.integer("temporal_patch_size", default=2, most=100), bias=True)
    yield Matrix("visual.pos_embed", vision.integer("num_position_embeddings"), hidden, "whole", linear=False)
    yield from _encoder(vision, hidden, layers="depth")
    out = vision.integer("out_hidden_size", default=text_hidden, most=1_000_000)
    mergers = 1 + len(vision.integers("deepstack_visual_indexes") or ())
    for _ in range(mergers):
        yield from _two_layers(merged, merged, out)
        yield vector("visual.merger.norm", 2 * hidden)


def kimi(vision: ConfigReader, top: ConfigReader, text_hidden: int) -> Iterator[Matrix]:
    """Yield the tower of Kimi K2.5. Source: vLLM 0.26.0 models/kimi_k25_vit.py."""
    hidden = vision.integer("vt_hidden_size", most=1_000_000)
    yield from _patches(hidden, 3 * vision.integer("patch_size", most=1_000) ** 2, bias=True)
    positions = vision.integer("init_pos_emb_height", most=100_000) * vision.integer("init_pos_emb_width", most=100_000)
    yield Matrix("visual.pos_emb", positions, hidden, "whole", linear=False)
    yield from _encoder(vision, hidden, layers="vt_num_hidden_layers", intermediate="vt_intermediate_size")
    merged = hidden * 4
    # The projector is not split.
    yield from (replace(matrix, split="whole") for matrix in _two_layers(merged, merged, text_hidden))
    yield vector("visual.norms", 4 * hidden)


def minimax(vision: ConfigReader, top: ConfigReader, text_hidden: int) -> Iterator[Matrix]:
    """Yield the tower of MiniMax-M3. Source: vLLM 0.26.0 models/minimax_m3/common/vision_tower.py."""
    hidden = vision.integer("hidden_size", most=1_000_000)
    compression = vision.mapping("img_token_compression_config")
    merge = compression.integer("spatial_merge_size", default=2, most=100) if compression else 2
    frames = compression.integer("temporal_patch_size", default=2, most=100) if compression else 2
    patch = vision.integer("num_channels", default=3, most=100) * vision.integer("patch_size", most=1_000) ** 2
    yield from _patches(hidden, patch * frames, bias=False)
    yield from _encoder(vision, hidden)
    middle = top.integer("projector_hidden_size", default=text_hidden, most=1_000_000)
    yield from _two_layers(hidden, middle, text_hidden)
    yield from _two_layers(text_hidden * merge**2, middle, text_hidden)
    yield vector("visual.norms", 4 * hidden)


def siglip(vision: ConfigReader, top: ConfigReader, text_hidden: int) -> Iterator[Matrix]:
    """Yield the tower of Gemma 3. Source: vLLM 0.26.0 models/siglip.py and gemma3_mm.py."""
    hidden = vision.integer("hidden_size", most=1_000_000)
    side = vision.integer("patch_size", most=1_000)
    positions = (vision.integer("image_size", most=100_000) // side) ** 2
    yield from _patches(hidden, 3 * side**2, bias=True)
    yield Matrix("visual.position_embedding", positions, hidden, "whole", linear=False)
    yield from _encoder(vision, hidden)
    yield Matrix("visual.projection", text_hidden, hidden, "whole", linear=False)
    yield vector("visual.norms", 3 * hidden)


def gemma4(vision: ConfigReader, top: ConfigReader, text_hidden: int) -> Iterator[Matrix]:
    """Yield the tower of Gemma 4, which every GPU keeps whole.

    Source: vLLM 0.26.0 models/gemma4_mm.py; transformers 5.24.0 models/gemma4/modeling_gemma4.py.
    """
    hidden = vision.integer("hidden_size", most=1_000_000)
    heads = vision.integer("num_attention_heads", most=10_000)
    dim = vision.integer("head_dim", default=64, most=10_000)
    kv = vision.integer("num_key_value_heads", default=heads, most=10_000)
    intermediate = vision.integer("intermediate_size")
    positions = vision.integer("position_embedding_size", default=10_240)
    yield from _patches(hidden, 3 * vision.integer("patch_size", default=16, most=1_000) ** 2, bias=False)
    yield Matrix("visual.position_embedding_table", 2 * positions, hidden, "whole", linear=False)
    for _ in range(vision.integer("num_hidden_layers", most=MOST_LAYERS)):
        yield Matrix("visual.self_attn", 2 * (heads + kv) * dim, hidden, "whole", linear=False)
        yield Matrix("visual.mlp", 3 * intermediate, hidden, "whole", linear=False)
        yield vector("visual.norms", 4 * hidden + 2 * dim)
    yield Matrix("visual.embed_vision", text_hidden, hidden, "whole", linear=False)


def llama4(vision: ConfigReader, top: ConfigReader, text_hidden: int) -> Iterator[Matrix]:
    """Yield the tower of Llama 4. Source: vLLM 0.26.0 models/mllama4.py."""
    hidden = vision.integer("hidden_size", most=1_000_000)
    side = vision.integer("patch_size", most=1_000)
    positions = (vision.integer("image_size", most=100_000) // side) ** 2 + 1
    yield from _patches(hidden, vision.integer("num_channels", default=3, most=100) * side**2, bias=False)
    yield Matrix("visual.positional_embedding_vlm", positions + 1, hidden, "whole", linear=False)
    yield from _encoder(vision, hidden)
    yield vector("visual.norms", 4 * hidden)
    middle = vision.integer("projector_input_dim", most=1_000_000)
    out = vision.integer("projector_output_dim", most=1_000_000)
    yield Matrix("visual.vision_adapter.fc1", middle, vision.integer("intermediate_size"), "rows", linear=False)
    yield Matrix("visual.vision_adapter.fc2", out, middle, "columns", linear=False)
    yield Matrix(
        "visual.multi_modal_projector",
        text_hidden,
        vision.integer("vision_output_dim", most=1_000_000),
        "rows",
        linear=False,
    )


def _patches(hidden: int, pixels: int, *, bias: bool) -> Iterator[Matrix]:
    yield Matrix("visual.patch_embed", hidden, pixels, "whole", linear=False)
    if bias:
        yield vector("visual.patch_embed", hidden)


def _encoder(
    vision: ConfigReader,
    hidden: int,
    layers: str = "num_hidden_layers",
    intermediate: str = "intermediate_size",
) -> Iterator[Matrix]:
    """Yield layers of attention and a plain feed-forward part, each with biases and two norms."""
    width = vision.integer(intermediate)
    for _ in range(vision.integer(layers, most=MOST_LAYERS)):
        yield from _linear("visual.attn.qkv", 3 * hidden, hidden, "rows")
        yield from _linear("visual.attn.proj", hidden, hidden, "columns")
        yield from _two_layers(hidden, width, hidden)
        yield vector("visual.norms", 4 * hidden)


def _two_layers(inner: int, middle: int, outer: int) -> Iterator[Matrix]:
    yield from _linear("visual.fc1", middle, inner, "rows")
    yield from _linear("visual.fc2", outer, middle, "columns")


def _linear(path: str, rows: int, columns: int, split: Split) -> Iterator[Matrix]:
    yield Matrix(path, rows, columns, split, linear=False)
    yield vector(path, rows, "rows" if split == "rows" else "whole")
