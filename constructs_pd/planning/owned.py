"""What the planner decides and a user cannot set beside it, with the reason or the field to use instead."""

from typing import Final

_GENERATE: Final = "leave it out: only text generation has two phases"
_SERVER: Final = "leave it out: Ray Serve's proxies are the server"
_OFFLOADING: Final = (
    "leave it out: vLLM then puts an offloading connector in the place of NIXL's (vLLM 0.26.0 config/vllm.py, "
    "_post_init_kv_transfer_config)"
)
_ONE_NODE: Final = "leave it out: an engine has one node"
_REPLICAS: Final = "raise replicas of the phase instead: each replica has a node of its own"

ENGINE_ARGUMENTS: Final[dict[str, str]] = {
    "model": "state it as model.source",
    "served_model_name": "state it as model.served_name",
    "dtype": "state it as model.dtype; both phases must have the same",
    "kv_cache_dtype": "state it as model.kv_cache_dtype; both phases must have the same",
    "max_model_len": "state it as model.max_model_len",
    "tensor_parallel_size": "state it as tensor_parallel of the phase",
    "pipeline_parallel_size": "leave it out: NIXL's pull connector hands no KV cache over between pipeline stages "
    "(vLLM 0.26.0; ray-project/ray#55775)",
    "convert": _GENERATE,
    "data_parallel_address": _REPLICAS,
    "data_parallel_backend": _REPLICAS,
    "data_parallel_external_lb": _REPLICAS,
    "data_parallel_hybrid_lb": _REPLICAS,
    "data_parallel_multi_port_external_lb": _REPLICAS,
    "data_parallel_rank": _REPLICAS,
    "data_parallel_rpc_port": _REPLICAS,
    "data_parallel_size_local": _REPLICAS,
    "data_parallel_start_rank": _REPLICAS,
    "decode_context_parallel_size": "leave it out: NIXL's connector knows nothing of it (vLLM 0.26.0)",
    "device_ids": "leave it out: Ray gives each engine its GPUs",
    "disable_log_stats": "leave it out: the latency of each phase is measured by it, and Ray refuses its absence",
    "ec_transfer_config": "leave it out: the encoder is a part of prefill",
    "enable_elastic_ep": _REPLICAS,
    "host": _SERVER,
    "port": _SERVER,
    "root_path": _SERVER,
    "ssl_certfile": _SERVER,
    "ssl_keyfile": _SERVER,
    "uds": _SERVER,
    "kv_offloading_backend": _OFFLOADING,
    "kv_offloading_size": _OFFLOADING,
    "master_addr": _ONE_NODE,
    "master_port": _ONE_NODE,
    "model_weights": "state it as model.source",
    "nnodes": _ONE_NODE,
    "node_rank": _ONE_NODE,
    "pooler_config": _GENERATE,
    "prefill_context_parallel_size": "leave it out: an engine has tensor_parallel GPUs, and no more",
    "runner": _GENERATE,
    "worker_cls": "leave it out: the executor on Ray chooses it",
    "data_parallel_size": _REPLICAS,
    "max_num_seqs": "state it as max_num_seqs of the phase",
    "max_num_batched_tokens": "state it as max_num_batched_tokens of the phase",
    "gpu_memory_utilization": "state it as gpu_memory_utilization of the phase",
    "enforce_eager": "state it as enforce_eager of the phase",
    "disable_hybrid_kv_cache_manager": "leave it out: the model's attention decides it",
    "kv_transfer_config": "leave it out: the hand-over is NixlConnector over LIBFABRIC with the role of the phase; "
    "NixlPushConnector hangs on small writes with NIXL 1.3.1 (ai-dynamo/nixl#1862), LMCache gives wrong answers with "
    "vLLM 0.26.0 (vllm-project/vllm#52617)",
    "distributed_executor_backend": "leave it out: Ray Serve LLM accepts ray only",
    "revision": "use a copy of the model at that revision: Ray's download breaks with it (ray-project/ray#58887)",
    "hf_token": "state it as hugging_face_token, by reference",
    "api_key": "leave it out: Ray Serve LLM does not check it (ray-project/ray#59578)",
    "enable_log_requests": "state it as logs.requests",
    "otlp_traces_endpoint": "state it as tracing.otlp_endpoint",
}

_KUBERAY: Final = "leave it out: KubeRay sets it"
_TIME_LIMITS: Final = "leave it out: the chain of time limits counts with Ray's default (docs/timeouts.md)"

ENVIRONMENT: Final[dict[str, str]] = {
    "CUDA_VISIBLE_DEVICES": "leave it out: Ray gives each engine its GPUs",
    "FI_EFA_FORK_SAFE": "leave it out: it is set for workers",
    "FI_EFA_USE_DEVICE_RDMA": "leave it out: it is set where the adapter has it, and aborts the engine elsewhere",
    "FI_PROVIDER": "leave it out: it is efa",
    "FQ_RAY_IP": _KUBERAY,
    "HF_HOME": "state model_cache, it then lies on the shared volume",
    "HF_TOKEN": "state hugging_face_token, by reference",
    "HUGGING_FACE_HUB_TOKEN": "state hugging_face_token, by reference",
    "NCCL_SOCKET_IFNAME": "leave it out: interface names differ between instance types (AWS ray-llm Dockerfile)",
    "NIXL_BACKEND": "leave it out: vLLM ignores it (vllm-project/vllm#41814)",
    "NIXL_PLUGIN_DIR": "leave it out: the image's NIXL knows where its plugins lie",
    "NVIDIA_VISIBLE_DEVICES": "leave it out: the device plugin sets it on workers, and the head must see no GPU",
    "RAYLLM_VLLM_ENGINE_CLS": "leave it out: the engine is Ray's own",
    "RAY_ADDRESS": _KUBERAY,
    "RAY_AUTH_MODE": "state ray_authentication",
    "RAY_AUTH_TOKEN": "state ray_authentication: KubeRay makes the token",
    "RAY_AUTH_TOKEN_PATH": "state ray_authentication: KubeRay makes the token",
    "RAY_CLUSTER_NAME": _KUBERAY,
    "RAY_ENABLE_K8S_TOKEN_AUTH": "state ray_authentication: token; KubeRay 1.7.0 refuses Kubernetes' tokens for a "
    "RayService",
    "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": "state drain_seconds",
    "RAY_IP": _KUBERAY,
    "RAY_NODE_TYPE_NAME": _KUBERAY,
    "RAY_PORT": _KUBERAY,
    "RAY_REDIS_ADDRESS": "state gcs_fault_tolerance: KubeRay refuses the two together",
    "RAY_SERVE_ENABLE_DIRECT_INGRESS": _TIME_LIMITS,
    "RAY_SERVE_ENABLE_HA_PROXY": _TIME_LIMITS,
    "RAY_SERVE_HTTP_KEEP_ALIVE_TIMEOUT_S": "state endpoint.idle_timeout_seconds",
    "RAY_SERVE_LLM_ROUTER_HTTP_TIMEOUT": "state endpoint.longest_generation_seconds",
    "RAY_SERVE_REQUEST_PROCESSING_TIMEOUT_S": "state endpoint.longest_generation_seconds",
    "RAY_SERVE_LLM_ENABLE_DIRECT_STREAMING": "leave it out: it has no ingress, and Ray refuses the ingress's settings",
    "RAY_enable_autoscaler_v2": "leave it out: KubeRay refuses it while the autoscaler is off",
    "RAY_external_storage_namespace": "state gcs_fault_tolerance.storage_namespace",
    "REDIS_PASSWORD": "state gcs_fault_tolerance.redis_password: KubeRay refuses the two together",
    "REDIS_USERNAME": "state gcs_fault_tolerance.redis_username: KubeRay refuses the two together",
    "UCX_TLS": "leave it out: the hand-over runs over LIBFABRIC; UCX falls back to TCP on EFA (ai-dynamo/nixl#909)",
    "VLLM_API_KEY": "leave it out: Ray Serve LLM does not check it (ray-project/ray#59578)",
    "VLLM_HOST_IP": "leave it out: it is the pod's address",
    "VLLM_KV_CACHE_LAYOUT": "leave it out: the connector asks for the layout on both sides",
    "VLLM_NIXL_KVCACHE_BACKEND": "leave it out: vLLM ignores it (vllm-project/vllm#41814)",
    "VLLM_NIXL_SIDE_CHANNEL_HOST": "leave it out: it is the pod's address",
    "VLLM_NIXL_SIDE_CHANNEL_PORT": "leave it out: set for a pod it switches off Ray's offset per rank, and engines "
    "collide (Ray 2.58.0 nixl.py)",
    "VLLM_SSM_CONV_STATE_LAYOUT": "leave it out: the model's attention decides it",
}

# Prefixes of label and annotation keys. KubeRay's operator reads its own; the library's select nodes and pods.
METADATA_PREFIXES: Final[dict[str, str]] = {
    "constructs-pd/": "the library selects nodes and pods by it",
    "ray.io/": "the KubeRay operator reads it; fault tolerance is stated as gcs_fault_tolerance",
}
METADATA_KEYS: Final[dict[str, str]] = {
    "app.kubernetes.io/created-by": "the KubeRay operator sets it and selects by it",
    "app.kubernetes.io/name": "the KubeRay operator sets it and selects by it",
}
