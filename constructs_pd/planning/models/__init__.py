"""Facts about models, derived from their config.json: parameters, weights, KV cache and states, as vLLM counts them."""

from constructs_pd.planning.models.errors import ModelConfigError
from constructs_pd.planning.models.facts import ModelFacts, ModelOutline, WeightGroup, model_facts, model_outline
from constructs_pd.planning.models.layers import CacheGroup, StateGroup
from constructs_pd.planning.models.memory import (
    WindowedKv,
    kv_bytes_per_token_per_gpu,
    state_bytes_per_request_per_gpu,
    weight_bytes_per_gpu,
    windowed_kv_per_gpu,
)

__all__ = [
    "CacheGroup",
    "ModelConfigError",
    "ModelFacts",
    "ModelOutline",
    "StateGroup",
    "WeightGroup",
    "WindowedKv",
    "kv_bytes_per_token_per_gpu",
    "model_facts",
    "model_outline",
    "state_bytes_per_request_per_gpu",
    "weight_bytes_per_gpu",
    "windowed_kv_per_gpu",
]
