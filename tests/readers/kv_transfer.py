"""vLLM's `kv_transfer_config`, which Ray passes on unread and vLLM refuses only when the engine starts.

The names are those of vLLM 0.26.0: `vllm/config/kv_transfer.py` (class KVTransferConfig) and
`vllm/distributed/kv_transfer/kv_connector/factory.py` (the registered connectors).
"""

from collections.abc import Iterator
from typing import Any

FIELDS = frozenset(
    {
        "enable_permute_local_kv",
        "engine_id",
        "kv_buffer_device",
        "kv_buffer_size",
        "kv_connector",
        "kv_connector_extra_config",
        "kv_connector_module_path",
        "kv_ip",
        "kv_load_failure_policy",
        "kv_parallel_size",
        "kv_port",
        "kv_rank",
        "kv_role",
    }
)
CONNECTORS = frozenset(
    {
        "DecodeBenchConnector",
        "ExampleConnector",
        "ExampleHiddenStatesConnector",
        "FlexKVConnectorV1",
        "HF3FSKVConnector",
        "LMCacheConnectorV1",
        "LMCacheMPConnector",
        "MoRIIOConnector",
        "MooncakeConnector",
        "MooncakeStoreConnector",
        "MultiConnector",
        "NixlConnector",
        "NixlPullConnector",
        "NixlPushConnector",
        "OffloadingConnector",
        "SimpleCPUOffloadConnector",
    }
)
ROLES = frozenset({"kv_both", "kv_consumer", "kv_producer"})
LOAD_FAILURE_POLICIES = frozenset({"fail", "recompute"})


def unknown_names(config: Any, path: str) -> Iterator[str]:
    """Name each field that vLLM does not have and each value outside vLLM's closed sets of names."""
    if not isinstance(config, dict):
        return
    yield from (f"{path}.{key}: unknown key" for key in config if key not in FIELDS)
    connector = config.get("kv_connector")
    # A connector from the user's own module needs no registration.
    if not config.get("kv_connector_module_path"):
        yield from _unknown(connector, CONNECTORS, f"{path}.kv_connector")
    yield from _unknown(config.get("kv_role"), ROLES, f"{path}.kv_role")
    policy = config.get("kv_load_failure_policy", "fail")
    yield from _unknown(policy, LOAD_FAILURE_POLICIES, f"{path}.kv_load_failure_policy")
    if connector == "MultiConnector":
        nested = (config.get("kv_connector_extra_config") or {}).get("connectors") or ()
        for index, child in enumerate(nested):
            yield from unknown_names(child, f"{path}.kv_connector_extra_config.connectors[{index}]")


def _unknown(value: Any, names: frozenset[str], path: str) -> Iterator[str]:
    if value not in names:
        yield f"{path}: {value!r} is not one of {', '.join(sorted(names))}"
