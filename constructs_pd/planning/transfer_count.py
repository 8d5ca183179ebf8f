"""How many transfers a KV cache is handed over in."""

from __future__ import annotations

from constructs_pd.planning.attention import is_latent
from constructs_pd.planning.catalog.rows import ModelRow


def transfers_of_request(prefill_tensor_parallel: int, decode_tensor_parallel: int, model: ModelRow | None) -> int:
    """Return the number of NIXL's reads that move the KV cache of one request.

    Each of decode's GPUs reads its heads: from one GPU of prefill, or where prefill has more GPUs from each that has
    some of them. Of latent attention every GPU has the whole cache, and one read is enough. One size divides the other
    and no head is repeated, or PD301 refuses the pair.

    Args:
        prefill_tensor_parallel: GPUs of an engine of prefill.
        decode_tensor_parallel: GPUs of an engine of decode.
        model: The model's row. A model that is not known is taken to have plain attention.

    Source: vLLM 0.26.0 kv_connector/v1/nixl/tp_mapping.py, compute_tp_mapping; pull_worker.py, _read_blocks_for_req.
    """
    if model is not None and is_latent(model):
        return decode_tensor_parallel
    return max(prefill_tensor_parallel, decode_tensor_parallel)
