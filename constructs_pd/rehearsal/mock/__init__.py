"""The mock engine: deterministic tokens and a KV cache that really moves, in place of vLLM, in Ray's own processes."""
