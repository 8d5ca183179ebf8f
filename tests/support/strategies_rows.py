"""Rows that a user adds to the catalogue: realistic ones, of hardware, models and images that could exist."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from constructs_pd.planning.catalog import load_catalog

CATALOG = load_catalog()
PROVENANCE = {"source": "a test", "date": "2026-11-29"}
_GPUS = tuple({row.gpu.name: row.gpu for row in CATALOG.instances.values()}.values())
_GIB_IN_MIB = 1024
# vLLM 0.26.0 is the one whose engine arguments are known.
KNOWN_VLLM = "0.26.0"
# Tags without a whole version; only a digest pins their content.
MOVING_TAGS = ("main-4645ac8", "latest", "_own_")


@st.composite
def instance_rows(draw: st.DrawFn) -> dict[str, Any]:
    """Return instance types of the catalogue's GPUs, that leave most of themselves to pods."""
    gpu = draw(st.sampled_from(_GPUS))
    vcpus, memory = draw(st.integers(8, 384)), draw(st.integers(64, 4096)) * _GIB_IN_MIB
    interfaces = draw(st.integers(1, 32))
    # Only types with several interfaces have a card without EFA.
    first_card = draw(st.sampled_from([0, 1])) if interfaces > 1 else 0
    return {
        "instance_type": draw(st.sampled_from(["g6.96xlarge", "own-gpu.large", "g6.12xlarge"])),
        "gpu": {
            **gpu.model_dump(),
            "count": draw(st.sampled_from([1, 2, 4, 8])),
            "gpudirect_rdma": draw(st.sampled_from([True, False, None])),
        },
        "efa": {
            "interfaces": interfaces,
            "network_cards": interfaces + first_card,
            "first_efa_card": first_card,
            "rdma_read": draw(st.sampled_from([None, True, False])),
            "bandwidth_gbps": draw(st.integers(25, 6400)),
        },
        "capacity_blocks": draw(st.sampled_from([None, True, False])),
        "vcpus": vcpus,
        "memory_mib": memory,
        "allocatable_cpu_millicores": vcpus * 1000 - draw(st.integers(100, 600)),
        "allocatable_memory_mib": memory * draw(st.integers(85, 95)) // 100,
        **PROVENANCE,
    }


@st.composite
def model_rows(draw: st.DrawFn) -> dict[str, Any]:
    """Return models of any attention whose query heads share their key/value heads evenly, some with their sizes."""
    kv_heads = draw(st.sampled_from([1, 2, 4, 8, 16]))
    row = {
        "model": draw(st.sampled_from(["acme/own-7b", "acme/Own_7B.v2", "Qwen/Qwen3-8B"])),
        "architecture": draw(st.sampled_from(["LlamaForCausalLM", "Qwen3_5ForConditionalGeneration"])),
        "attention": draw(st.sampled_from(["full", "hybrid"])),
        "attention_heads": kv_heads * draw(st.sampled_from([1, 2, 3, 4, 7, 8])),
        "kv_heads": kv_heads,
        "max_position_embeddings": draw(st.integers(2048, 1_048_576)),
        "gated": draw(st.booleans()),
        **PROVENANCE,
    }
    known = draw(st.sampled_from(["nothing", "sizes", "config"]))
    if known == "sizes":
        row["sizes"] = {"weights_gib": 14.2, "kv_bytes_per_token": 65_536, "state_bytes_per_request": 1_000_000}
    elif known == "config" and row["attention"] == "full":
        row |= {"architecture": "LlamaForCausalLM", "config": _config(row)}
    return row


def _config(row: dict[str, Any]) -> dict[str, Any]:
    """Return a small model's config.json that says what a row says."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": 8 * row["attention_heads"],
        "intermediate_size": 256,
        "max_position_embeddings": row["max_position_embeddings"],
        "num_attention_heads": row["attention_heads"],
        "num_hidden_layers": 2,
        "num_key_value_heads": row["kv_heads"],
        "vocab_size": 1024,
    }


@st.composite
def image_rows(draw: st.DrawFn) -> dict[str, Any]:
    """Return images at least as new as AWS's, from a registry of one's own or mirrored like AWS's."""
    return {
        "tag": draw(st.sampled_from(["own-1.0.0", "2026.11.29", *MOVING_TAGS])),
        "repository": draw(
            st.sampled_from(
                [
                    "123456789012.dkr.ecr.us-west-2.amazonaws.com/own",
                    "registry.example.com:5000/team/ray-llm__cuda",
                    "public.ecr.aws/deep-learning-containers/ray",
                ]
            )
        ),
        "mirrored_as": draw(st.sampled_from([None, "ray"])),
        "ray_version": draw(st.sampled_from(["2.58.0", "2.58.1", "2.60.0"])),
        "vllm_version": draw(st.sampled_from([KNOWN_VLLM, KNOWN_VLLM, "0.27.1"])),
        "nixl_version": draw(st.sampled_from(["1.3.1", "1.10.0"])),
        "cuda_version": draw(st.sampled_from([None, "12.9.1", "13.0.2", "14.0.0"])),
        **PROVENANCE,
    }
