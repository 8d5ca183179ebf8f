"""The OpenAI requests that the mock engine understands, with the bounds that vLLM 0.26.0 puts on them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field


class OpenModel(BaseModel):
    """Open to more fields, as vLLM's own protocol models are."""

    model_config = ConfigDict(extra="allow", arbitrary_types_allowed=True)


class StreamOptions(OpenModel):
    """What else a stream holds."""

    include_usage: bool | None = False


class _Request(OpenModel):
    model: str | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    stop: str | list[str] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    n: Annotated[int, Field(ge=1)] | None = 1
    seed: int | None = None
    request_id: str = ""
    kv_transfer_params: dict[str, Any] | None = None
    # Not OpenAI's: how long the mock waits before each token of a stream.
    mock_pause_seconds: Annotated[float, Field(ge=0)] = 0

    @property
    def stop_sequences(self) -> tuple[str, ...]:
        """The stop sequences as a list, whatever way they were stated."""
        if self.stop is None:
            return ()
        return (self.stop,) if isinstance(self.stop, str) else tuple(self.stop)


class ChatCompletionRequest(_Request):
    """A chat."""

    messages: Annotated[list[dict[str, Any]], Field(min_length=1)]
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None


class CompletionRequest(_Request):
    """A prompt: a text, or token ids."""

    prompt: str | list[int]
    max_tokens: Annotated[int, Field(ge=1)] | None = 16


class ErrorInfo(BaseModel):
    """What went wrong, as OpenAI's API says it."""

    message: str
    type: str
    param: str | None = None
    code: int


class ErrorResponse(BaseModel):
    """An answer that is an error."""

    error: ErrorInfo
