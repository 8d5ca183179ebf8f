"""CF3xx: streams: their order, their end, and that nothing is lost or mixed on the way."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import httpx

from constructs_pd.conformance.check import check
from constructs_pd.conformance.endpoint import DONE
from constructs_pd.conformance.outcome import NotSupportedError, require
from constructs_pd.conformance.problems import short
from constructs_pd.conformance.session import (
    PROMPT,
    Session,
    choices_of,
    streamed_choices,
    streamed_text,
    usage_of,
)
from constructs_pd.conformance.surface import CHAT

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk

STREAM: Final = "CreateChatCompletionStreamResponse"
# Characters of two, three and four bytes in UTF-8: most tokenizers split some of them over several tokens.
WIDE: Final = "Repeat exactly, and again and again: Grüße, наука, 日本語, 한국어, हिन्दी, 🙂🚀👩‍🔬"
LONG_TOKENS: Final = 1000
FEW_TOKENS: Final = 8
TOPICS: Final = ("planets", "rivers", "metals", "colours", "fruits", "birds", "tools", "games")


@check("CF301", "A stream is sent as text/event-stream", "CreateChatCompletionRequest.stream")
def content_type(session: Session) -> str:
    """Look at the header."""
    for surface in session.surfaces:
        found = session.stream(surface).require_success().content_type
        right = found.partition(";")[0].strip() == "text/event-stream"
        require(right, "content type text/event-stream", f"{surface.name}: {found!r}")
    return "text/event-stream"


@check("CF302", "A stream ends with one data: [DONE]", "CreateCompletionRequest.stream")
def done(session: Session) -> str:
    """Look at the last event, and that it is the only one of its kind."""
    for surface in session.surfaces:
        events = session.stream(surface).require_success().events
        last = events[-1].decode("utf-8", "replace") if events else "nothing"
        require(last == DONE, "data: [DONE] at the end", f"{surface.name}: {short(last)}")
        require(events.count(DONE.encode()) == 1, "one data: [DONE]", f"{surface.name}: {events.count(DONE.encode())}")
    return "[DONE]"


@check("CF303", "The first chunk of a chat stream says role: assistant, and no other one another role", STREAM)
def role(session: Session) -> str:
    """Look at the role of every delta."""
    roles = [(choice.get("delta") or {}).get("role") for choice in streamed_choices(session.stream(CHAT))]
    require(bool(roles) and roles[0] == "assistant", "role: assistant in the first chunk", f"role: {roles[:1]}")
    require(set(roles[1:]) <= {None, "assistant"}, "no other role later", roles)
    return "assistant"


@check("CF304", "All chunks of a stream have one id, the right type and the model's name", STREAM)
def same_head(session: Session) -> str:
    """Look at every chunk's head."""
    for surface in session.surfaces:
        chunks = session.stream(surface).chunks
        heads = sorted({tuple(chunk.get(name) for name in ("id", "object", "model")) for chunk in chunks}, key=str)
        expected = f"one id, {surface.chunk_object}, the model"
        require(len(heads) == 1, expected, heads)
        ((_, kind, model),) = heads
        require(kind == surface.chunk_object and session.is_named(model), expected, heads)
    return "one id"


@check("CF305", "A choice's last chunk has its finish_reason, and no chunk before it has one", STREAM)
def finish(session: Session) -> str:
    """Look at the finish_reason of every chunk."""
    for surface in session.surfaces:
        reasons = [choice.get("finish_reason") for choice in streamed_choices(session.stream(surface))]
        right = bool(reasons) and bool(reasons[-1]) and not any(reasons[:-1])
        require(right, "a finish_reason in the last chunk only", f"{surface.name}: {reasons}")
    return "the last"


@check("CF306", "A stream says what the answer in one piece says, and ends for the same reason", STREAM)
def same_text(session: Session) -> str:
    """Join the chunks and compare."""
    for surface in session.surfaces:
        text = session.text(surface)
        _require_same(surface.name, text, streamed_text(surface, session.stream(surface)))
        reason = choices_of(session.answer(surface))[0].get("finish_reason")
        streamed = [choice.get("finish_reason") for choice in streamed_choices(session.stream(surface))]
        require(reason in streamed, f"finish_reason {reason}", f"{surface.name}: {sorted(map(str, set(streamed)))}")
    return "the same"


@check("CF307", "With include_usage the last chunk has the usage and no choices", "ChatCompletionStreamOptions")
def usage_chunk(session: Session) -> str:
    """Look at the last chunk, and that no other one is empty."""
    for surface in session.surfaces:
        chunks = session.stream_with_usage(surface).chunks
        last = chunks[-1] if chunks else {}
        require(last.get("choices") == [], "a last chunk with choices: []", f"{surface.name}: {short(str(last))}")
        usage_of(last)
    return "the last chunk"


@check("CF308", "Without include_usage no chunk has a usage", "CreateChatCompletionStreamResponse.usage")
def no_usage(session: Session) -> str:
    """Look at every chunk."""
    for surface in session.surfaces:
        found = [chunk["usage"] for chunk in session.stream(surface).chunks if chunk.get("usage") is not None]
        require(not found, "no usage", f"{surface.name}: {found[:1]}")
    return "none"


@check("CF309", "Characters of several bytes arrive whole, however they were split into tokens", STREAM)
def wide_characters(session: Session) -> str:
    """Have text of many scripts repeated, and look at every event's bytes and text."""
    seen = set()
    for surface in session.surfaces:
        text = surface.text(session.choices(surface, WIDE)[0])
        answer = session.ask(surface, WIDE, stream=True).require_success()
        broken = [event for event in answer.events if _is_broken(event)]
        require(not broken, "events that are UTF-8 each", f"{surface.name}: {broken[:1]}")
        again = surface.text(session.choices(surface, WIDE)[0])
        if again != text:
            raise NotSupportedError("greedy answers vary, so nothing can be compared with them")
        _require_same(surface.name, text, streamed_text(surface, answer))
        seen |= {character for character in text if ord(character) > 127}
    if not seen - {"\ufffd"}:
        raise NotSupportedError("the model answered in ASCII only")
    return f"{len(seen)} characters beyond ASCII"


@check("CF310", "Streams at the same time are not mixed", STREAM)
def concurrent(session: Session) -> str:
    """Ask as many different questions at once as the run may, and compare with their answers one by one."""
    count = min(session.settings.concurrent_streams, len(TOPICS))
    prompts = [f"Write a long list of {topic}, one after the other." for topic in TOPICS[:count]]
    alone = [_said_alone(session, prompt) for prompt in prompts]
    if _said_alone(session, prompts[0]) != alone[0]:
        raise NotSupportedError("greedy answers vary, so nothing can be compared with them")
    with ThreadPoolExecutor(count) as pool:
        streams = list(pool.map(lambda prompt: session.ask(CHAT, prompt, stream=True), prompts))
    ids = [{chunk.get("id") for chunk in stream.chunks} for stream in streams]
    require(all(len(own) == 1 for own in ids), "one id in each stream", [sorted(map(str, own)) for own in ids])
    require(len(set.union(*ids)) == count, f"{count} different ids", sorted(map(str, set.union(*ids))))
    for index, stream in enumerate(streams):
        _require_own(streamed_text(CHAT, stream), index, alone)
    return f"{count} streams"


@check(
    "CF311", "After streams that were cancelled the endpoint answers as before", "CreateChatCompletionRequest.stream"
)
def cancelled(session: Session) -> str:
    """Hang up on as many long streams as the run may have at once, then ask."""
    body = session.body(CHAT, stream=True, max_tokens=LONG_TOKENS)
    for _ in range(session.settings.concurrent_streams):
        status = session.endpoint.abandon(CHAT.path, body)
        if status != 200:
            raise NotSupportedError(f"a stream of up to {LONG_TOKENS} tokens is refused: {status}")
    answer = session.ask(CHAT).require_data()
    require(bool(CHAT.text(choices_of(answer)[0])), "an answer with text", short(str(answer)))
    return f"answered after {session.settings.concurrent_streams} of them"


@check("CF312", "OpenAI's client reads a stream", "openai.OpenAI().chat.completions.create(stream=True)")
def client(session: Session) -> str:
    """Let the client iterate over a stream with usage."""
    openai, limit = session.endpoint.openai, {session.limit_name(CHAT): 8}
    end = time.monotonic() + session.endpoint.request_seconds

    def read() -> list[ChatCompletionChunk]:
        stream = openai.chat.completions.create(
            model=session.settings.model,
            messages=[{"role": "user", "content": PROMPT}],
            temperature=0,
            stream=True,
            stream_options={"include_usage": True},
            extra_body=limit,
        )
        with stream:
            return list(_in_time(stream, end))

    chunks = session.endpoint.in_time(read)
    ends = [choice.finish_reason for chunk in chunks for choice in chunk.choices if choice.finish_reason]
    require(len(ends) == 1, "one finish_reason", ends)
    return f"{len(chunks)} chunks"


@check("CF313", "A stream with n: 2 has both choices, each with its own end", "CreateChatCompletionRequest.n")
def two_choices(session: Session) -> str:
    """Look at every choice's index and finish_reason."""
    answer = session.ask(CHAT, stream=True, n=2, temperature=1, seed=1).require_supported()
    ends = [choice.get("index") for choice in streamed_choices(answer) if choice.get("finish_reason")]
    require(sorted(map(str, ends)) == ["0", "1"], "the ends of choices 0 and 1", f"the ends of choices {ends}")
    return "0 and 1"


@check("CF315", "A stream with n: 2 says of each choice what the answer in one piece says of it", STREAM)
def own_text(session: Session) -> str:
    """Compare with one seed; where the answer in one piece, or the stream, varies with it, nothing can be told."""
    options = {"n": 2, "temperature": 1, "seed": 1, "max_tokens": FEW_TOKENS}

    def whole() -> list[str]:
        answer = session.ask(CHAT, **options).require_supported().require_data()
        return [CHAT.text(choice) for choice in sorted(choices_of(answer), key=lambda choice: str(choice.get("index")))]

    def streamed() -> list[str]:
        answer = session.ask(CHAT, stream=True, **options).require_supported()
        return [streamed_text(CHAT, answer, index) for index in (0, 1)]

    texts, found = whole(), streamed()
    if len(texts) != 2:
        raise NotSupportedError(f"the answer in one piece has {len(texts)} choices (CF501)")
    if found != texts and (whole() != texts or streamed() != found):
        raise NotSupportedError("answers vary with one seed, so nothing can be compared with them")
    require(found == texts, f"choices {texts}", f"choices {found}")
    return "both"


@check("CF314", "With include_usage every other chunk says usage: null", "ChatCompletionStreamOptions.include_usage")
def usage_null(session: Session) -> str:
    """Look at every chunk but the last."""
    for surface in session.surfaces:
        for chunk in session.stream_with_usage(surface).chunks[:-1]:
            shown = f"{surface.name}: usage: {chunk['usage']!r}" if "usage" in chunk else f"{surface.name}: no usage"
            require("usage" in chunk and chunk["usage"] is None, "usage: null", shown)
    return "null"


def _in_time(stream: Iterable[ChatCompletionChunk], end: float) -> Iterator[ChatCompletionChunk]:
    for chunk in stream:
        # Nobody waits any more, and the client limits each wait only.
        if time.monotonic() > end:
            raise httpx.ReadTimeout("the stream did not end in time")
        yield chunk


def _is_broken(event: bytes) -> bool:
    try:
        event.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _require_same(name: str, text: str, streamed: str) -> None:
    if text == streamed:
        return
    pairs = enumerate(zip(text, streamed, strict=False))
    at = next((index for index, (one, other) in pairs if one != other), min(len(text), len(streamed)))
    begin = max(0, at - 20)
    where = f"{name}, from character {begin}: "
    require(False, f"{where}{text[begin : at + 20]!r}", f"{where}{streamed[begin : at + 20]!r}")


def _said_alone(session: Session, prompt: str) -> str:
    return CHAT.text(session.choices(CHAT, prompt)[0])


def _require_own(text: str, index: int, alone: list[str]) -> None:
    """A batch rounds otherwise than a single request, so a greedy answer may leave its path, but not for another's."""
    lengths = [_common(text, other) for other in alone]
    own = lengths.pop(index)
    expected = f"stream {index} to say {short(alone[index], 60)!r}"
    require(text == alone[index] or own > max(lengths, default=0), expected, repr(short(text, 60)))


def _common(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


CHECKS = (
    content_type,
    done,
    role,
    same_head,
    finish,
    same_text,
    usage_chunk,
    no_usage,
    wide_characters,
    concurrent,
    cancelled,
    client,
    two_choices,
    usage_null,
    own_text,
)
