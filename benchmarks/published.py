"""What published benchmarks have in common: a model, a GPU, and engines of it."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from benchmarks.model_of_row import OfModel
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.hand_over_size import reads
from constructs_pd.planning.kv_layout import kv_layout
from constructs_pd.planning.performance.disaggregated import HandOver
from constructs_pd.planning.performance.latency import Requests
from constructs_pd.planning.performance.roofline import Engine
from constructs_pd.planning.performance.work import work_of

VLLM_VERSION: Final = "0.26.0"
_BITS: Final = 8


class Published(OfModel):
    """The model and the GPU of a published measurement.

    Attributes:
        gpu: The GPU's row in gpu_speed.yaml.
        gpu_changes: What is different of a GPU that EC2 does not have.
        gpu_name: The name of such a GPU.
        hand_over_gbps: What a pair of engines gets, in Gbit/s, or none without a hand-over.
        posts_reads: Whether decode posted a read for each block and layer, as vLLM's NixlConnector does. Of the way in
            which other engines hand over nothing is reckoned but the bytes.
    """

    gpu: str
    gpu_changes: dict[str, float] = Field(default={})
    gpu_name: str | None = None
    compute_capability: str
    kv_cache_dtype: str = "auto"
    hand_over_gbps: float | None = None
    posts_reads: bool = False
    step_tokens: int = 8192
    prompt_tokens: int
    output_tokens: int

    @property
    def of_requests(self) -> Requests:
        """Its requests: those of a benchmark are all alike."""
        return Requests(self.prompt_tokens, 0, self.output_tokens, 0.0)

    def engine_of(self, tensor_parallel: int, sequences: int) -> Engine:
        """Return an engine on so many GPUs that answers so many requests at once."""
        catalog = load_catalog()
        gpu = catalog.gpu_speed[self.gpu].model_copy(update=dict(self.gpu_changes))
        work = work_of(self.facts, tensor_parallel, self.compute_capability, kv_cache_dtype=self.kv_cache_dtype)
        return Engine(work, gpu, catalog.engine_speed[VLLM_VERSION], tensor_parallel, self.step_tokens, sequences)

    def hand_over_to(self, decode: Engine, prefill_gpus: int) -> HandOver:
        """Return the hand-over of a prompt to an engine that is no narrower than prefill's: each reads from one GPU.

        A pair gets what the narrower one's links carry: so much of prefill's, and its part of decode's.
        """
        assert self.hand_over_gbps is not None
        path = load_catalog().transfer_paths["efa_gpudirect"]
        size = sum(part.bytes_per_token * part.seen(self.prompt_tokens) for part in decode.work.attention)
        wire = size * decode.tensor_parallel * _BITS / (self.hand_over_gbps * 1e9)
        posting = self._reads_by(decode) * path.descriptor_us / 1e6 if self.posts_reads else 0.0
        return HandOver(path.fixed_ms / 1e3, posting, wire, wire, wire * prefill_gpus / decode.tensor_parallel)

    def _reads_by(self, decode: Engine) -> float:
        layout = kv_layout(
            self.facts,
            tensor_parallel=decode.tensor_parallel,
            kv_cache_dtype=self.kv_cache_dtype,
            in_flight_tokens=0,
            compute_capability=self.compute_capability,
        )
        return reads(self.facts, layout, self.prompt_tokens)
