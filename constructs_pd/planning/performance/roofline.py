"""How long a step of an engine takes: the longer of arithmetic and memory for each part, and what comes on top.

Source of the method: Williams, Waterman, Patterson, Roofline, CACM 52 (4), 2009. docs/performance.md has the formulas.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf

from constructs_pd.planning.catalog.rows import EngineSpeedRow, GpuSpeedRow
from constructs_pd.planning.performance.work import Matrices, Precision, Work

_TERA = 1e12
_GIGA = 1e9
_MICRO = 1e-6
_MILLI = 1e-3
_ELEMENT_BYTES = 2  # of what travels between layers
_SUMS_PER_LAYER = 2  # after attention and after the MLP


@dataclass(frozen=True)  # without slots: rates are kept, as steps are reckoned a hundred thousand times
class Engine:
    """One engine: a model's work on GPUs of one kind.

    Attributes:
        work: What a step asks of each GPU.
        gpu: How fast the GPU is.
        speed: What vLLM takes beside it.
        tensor_parallel: GPUs of the engine.
        step_tokens: The most tokens of a step.
        sequences: The most requests that it answers at once: max_num_seqs, or what its KV cache holds.
        is_eager: Whether CUDA graphs are off, so that the CPU launches each kernel.
    """

    work: Work
    gpu: GpuSpeedRow
    speed: EngineSpeedRow
    tensor_parallel: int
    step_tokens: int
    sequences: int
    is_eager: bool = False

    def step_seconds(
        self,
        *,
        prompt_tokens: float = 0,
        tokens_before: float = 0,
        prompts: float = 1,
        sequences: float = 0,
        context_tokens: float = 0,
    ) -> float:
        """Return how long a step takes.

        Args:
            prompt_tokens: Tokens of prompts in it, all prompts together.
            tokens_before: Tokens of each prompt that earlier steps took.
            prompts: Prompts that share it.
            sequences: Requests that are answered with a token each.
            context_tokens: Mean tokens of these requests.
        """
        tokens = prompt_tokens + sequences
        answered = sequences + min(prompts, prompt_tokens)
        seconds = sum(
            max(
                part.flops * (answered if part.of_answers else tokens) / flops,
                part.bytes_read(tokens) / self._bandwidth,
            )
            for part, flops in self._flops_of_matrices
        )
        seconds += self._prompt_attention(prompt_tokens, tokens_before, prompts)
        seconds += self._answer_attention(sequences, context_tokens)
        seconds += self.work.state_flops * tokens / self._attention_flops
        seconds += 2 * self.work.state_bytes * sequences / self._bandwidth
        seconds += self._sums(tokens)
        seconds += self.work.layers * self.speed.layer_us * _MICRO
        if self.is_eager:  # the GPU works while the CPU launches what is next: the slower of both decides
            seconds = max(seconds, self.work.layers * self.speed.eager_layer_us * _MICRO)
        return seconds + self.speed.step_ms * _MILLI + self.speed.sequence_us * _MICRO * sequences

    def prompt_seconds(
        self, tokens: float, *, tokens_before: float = 0, sequences: float = 0, context_tokens: float = 0
    ) -> float:
        """Return how long the steps of one prompt take, while so many other requests are answered in them.

        Tokens that a prefix cache holds come before those that are computed. A step has room for what the answers leave
        of max_num_batched_tokens, as they come first (vLLM docs/configuration/optimization.md, chunked prefill).
        Without end where they leave nothing.
        """
        return self._prompt(tokens, tokens_before, sequences, context_tokens, is_shared=False)

    def prompt_share_seconds(
        self, tokens: float, *, tokens_before: float = 0, sequences: float = 0, context_tokens: float = 0
    ) -> float:
        """Return the time that a prompt takes of an engine in which prompts wait: its last step is then shared."""
        return self._prompt(tokens, tokens_before, sequences, context_tokens, is_shared=True)

    def steps(self, tokens: float, sequences: float = 0) -> float:
        """Return how many steps a prompt fills while so many requests are answered in them."""
        room = self.step_tokens - sequences
        return tokens / room if room >= 1 else inf

    def _prompt(
        self, tokens: float, tokens_before: float, sequences: float, context_tokens: float, *, is_shared: bool
    ) -> float:
        """Return how long a prompt's steps take, or its part of them where others share the last."""
        room = self.step_tokens - sequences
        if room < 1:
            return inf
        done = tokens // room * room
        seconds = self._whole_steps(done, tokens_before, sequences, context_tokens)
        if tokens == done:
            return seconds
        prompts = room / (tokens - done) if is_shared else 1
        last = self.step_seconds(
            prompt_tokens=room if is_shared else tokens - done,
            tokens_before=tokens_before + done,
            prompts=prompts,
            sequences=sequences,
            context_tokens=context_tokens,
        )
        return seconds + last / prompts

    def _whole_steps(self, tokens: float, tokens_before: float, sequences: float, context_tokens: float) -> float:
        """Return how long steps take that are full of one prompt."""
        if tokens == 0:
            return 0.0
        room = self.step_tokens - sequences
        # Each looks back a step further than the one before: so many times the one in the middle.
        step = self.step_seconds(
            prompt_tokens=room,
            tokens_before=tokens_before + (tokens - room) / 2,
            sequences=sequences,
            context_tokens=context_tokens,
        )
        return tokens / room * step

    @cached_property
    def _bandwidth(self) -> float:
        return self.gpu.memory_gigabytes_per_second * _GIGA * self.gpu.memory_efficiency

    @cached_property
    def _attention_flops(self) -> float:
        return self.gpu.half_tflops * _TERA * self.speed.attention_efficiency

    @cached_property
    def _flops_of_matrices(self) -> tuple[tuple[Matrices, float], ...]:
        """The FLOP/s that matrices reach."""
        return tuple(
            (part, self._peak(part.precision) * (self.speed.experts_efficiency if part.touched < 1 else 1))
            for part in self.work.matrices
        )

    def _peak(self, precision: Precision) -> float:
        """Return the FLOP/s of a precision; where the GPU lacks it, weights are widened to 16 bits."""
        if precision == "fp4" and self.gpu.fp4_tflops and self.gpu.fp4_efficiency:
            return self.gpu.fp4_tflops * _TERA * self.gpu.fp4_efficiency
        if precision == "fp8" and self.gpu.fp8_tflops and self.gpu.fp8_efficiency:
            return self.gpu.fp8_tflops * _TERA * self.gpu.fp8_efficiency
        return self.gpu.half_tflops * _TERA * self.gpu.half_efficiency

    def _prompt_attention(self, tokens: float, before: float, prompts: float) -> float:
        if tokens == 0:
            return 0.0
        each = tokens / prompts
        seen = [part.seen(before + each / 2) for part in self.work.attention]
        flops = sum(part.prompt_flops * tokens * pairs for part, pairs in zip(self.work.attention, seen, strict=True))
        return flops / self._attention_flops

    def _answer_attention(self, sequences: float, context: float) -> float:
        return sum(
            max(
                part.answer_flops * sequences * part.seen(context) / self._attention_flops,
                part.bytes_per_token * sequences * part.seen(context) / self._bandwidth,
            )
            for part in self.work.attention
        )

    def _sums(self, tokens: float) -> float:
        """Return the time of the sums over all GPUs of the engine."""
        if self.tensor_parallel == 1:
            return 0.0
        size = tokens * self.work.hidden * _ELEMENT_BYTES * 2 * (self.tensor_parallel - 1) / self.tensor_parallel
        rate = self.gpu.link_gigabytes_per_second * _GIGA * self.speed.link_efficiency
        least = self.speed.nvlink_all_reduce_us if self.gpu.has_nvlink else self.speed.pcie_all_reduce_us
        return _SUMS_PER_LAYER * self.work.layers * (least * _MICRO + size / rate)
