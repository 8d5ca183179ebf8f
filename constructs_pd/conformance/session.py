"""What the checks of one run share: the endpoint, and greedy answers that several of them look at."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import httpx

from constructs_pd.conformance.endpoint import Answer, Endpoint
from constructs_pd.conformance.outcome import NotSupportedError, require
from constructs_pd.conformance.settings import Settings
from constructs_pd.conformance.surface import CHAT, SURFACES, Surface

if TYPE_CHECKING:
    from constructs_pd.conformance.canary import Reference

# A prompt whose answer is long with any model, and enough tokens of it to cut and to stop in.
PROMPT: Final = "Count from one to one hundred in English words, separated by commas: one, two, three,"
LENGTH_TOKENS: Final = 48
NEITHER: Final = {404, 405, 501}


@dataclass(frozen=True)
class Session:
    """One run over an endpoint; `reference` knows the right answers to the canary."""

    settings: Settings
    endpoint: Endpoint
    reference: Reference | None = None
    _answers: dict[tuple[str, ...], Answer] = field(default_factory=dict)

    def body(self, surface: Surface, prompt: str = PROMPT, /, **options: Any) -> dict[str, Any]:
        """Return a greedy request; options are further fields or win over these."""
        limit = {self.limit_name(surface): options.pop("max_tokens", LENGTH_TOKENS)}
        greedy = {"model": self.settings.model, "temperature": 0, **limit}
        return {**greedy, **surface.prompt(prompt), **options}

    def ask(self, surface: Surface, prompt: str = PROMPT, /, **options: Any) -> Answer:
        """Return the answer to a greedy request."""
        return self.endpoint.post(surface.path, self.body(surface, prompt, **options))

    def choices(self, surface: Surface, prompt: str = PROMPT, /, **options: Any) -> list[Any]:
        """Return the choices of the answer to a greedy request."""
        return choices_of(self.ask(surface, prompt, **options).require_data())

    def answer(self, surface: Surface, run: str = "first") -> Any:
        """Return the greedy answer to PROMPT; asked once for each name of a run."""
        return self._asked(surface, run, {}).require_data()

    def stream(self, surface: Surface) -> Answer:
        """Return the same as a stream."""
        return self._asked(surface, "stream", {"stream": True})

    def stream_with_usage(self, surface: Surface) -> Answer:
        """Return the same as a stream with `include_usage`."""
        return self._asked(surface, "usage", {"stream": True, "stream_options": {"include_usage": True}})

    def text(self, surface: Surface) -> str:
        """Return the text of the greedy answer to PROMPT.

        Raises:
            NotSupportedError: The endpoint answers otherwise each time, so that nothing can be compared with it.
        """
        first, second = (surface.text(choices_of(self.answer(surface, run))[0]) for run in ("first", "second"))
        if first != second:
            raise NotSupportedError(f"{surface.name}: greedy answers vary, so nothing can be compared with them")
        return first

    def limit_name(self, surface: Surface) -> str:
        """Return the field that limits an answer: some models' chat refuses max_tokens, which OpenAI deprecates."""
        return self._chat_limit_name if surface is CHAT else "max_tokens"

    @cached_property
    def _chat_limit_name(self) -> str:
        body = {"model": self.settings.model, **CHAT.prompt(PROMPT), "temperature": 0, "max_tokens": 1}
        answer = self.endpoint.post(CHAT.path, body)
        refused = answer.status == httpx.codes.BAD_REQUEST and b"max_completion_tokens" in answer.body
        return "max_completion_tokens" if refused else "max_tokens"

    @cached_property
    def context_tokens(self) -> int | None:
        """The longest context: as stated, or as the model list tells it, which vLLM's does and Ray's."""
        if self.settings.context_tokens is not None:
            return self.settings.context_tokens
        try:
            data = self.endpoint.get("/models").data
        except httpx.HTTPError:
            return None
        entries = data.get("data") if isinstance(data, dict) else None
        named = (entry for entry in entries or () if isinstance(entry, dict) and entry.get("id") == self.settings.model)
        entry = next(named, {})
        metadata = entry.get("metadata")
        told = entry.get("max_model_len") or (metadata if isinstance(metadata, dict) else {}).get(
            "max_request_context_length"
        )
        return told if type(told) is int and told > 0 else None

    def is_named(self, found: Any) -> bool:
        """Return whether an answer's model is the one that was asked for, or what an alias stands for.

        OpenAI answers for `gpt-4o` as `gpt-4o-2024-08-06`.
        """
        name = re.escape(self.settings.model)
        return isinstance(found, str) and re.fullmatch(rf"{name}(-\d[\d-]*)?", found) is not None

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        """Chat and completions, as far as the endpoint has them; chat where it has neither."""
        found = tuple(surface for surface in SURFACES if self._asked(surface, "first", {}).status not in NEITHER)
        return found or SURFACES[:1]

    def offered(self, surface: Surface) -> Surface:
        """Return a surface.

        Raises:
            NotSupportedError: The endpoint has the other one only.
        """
        if surface not in self.surfaces:
            raise NotSupportedError(f"there is no {surface.path}")
        return surface

    def _asked(self, surface: Surface, run: str, options: dict[str, Any]) -> Answer:
        key = (surface.name, run)
        if key not in self._answers:
            self._answers[key] = self.ask(surface, **options)
        return self._answers[key]


def choices_of(data: Any) -> list[Any]:
    """Return an answer's choices.

    Raises:
        CheckFailedError: There are none.
    """
    choices = data.get("choices")
    require(isinstance(choices, list) and bool(choices), "at least one choice", f"choices: {choices!r}")
    require(all(isinstance(choice, dict) for choice in choices), "choices that are objects", f"choices: {choices!r}")
    return list(choices)


def usage_of(data: Any) -> dict[str, int]:
    """Return an answer's usage.

    Raises:
        CheckFailedError: A count is missing or is no number.
    """
    usage = data.get("usage")
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    whole = isinstance(usage, dict) and all(type(usage.get(name)) is int for name in names)
    require(whole, f"usage with {', '.join(names)}", f"usage: {usage!r}")
    return {name: usage[name] for name in names}


def streamed_text(surface: Surface, answer: Answer, index: int = 0) -> str:
    """Return a stream's text of one choice, joined."""
    return "".join(surface.delta(choice) for choice in streamed_choices(answer) if choice.get("index", 0) == index)


def streamed_choices(answer: Answer) -> list[Any]:
    """Return the choices of all chunks, in order."""
    return [choice for chunk in answer.chunks for choice in chunk.get("choices") or ()]
