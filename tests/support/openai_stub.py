"""A small, correct server of OpenAI's API on 127.0.0.1, and the faults that it can be told to have."""

from __future__ import annotations

import itertools
import json
import math
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from support.openai_model import NATURAL_TOKENS, Token, token, tokens_of

MODEL: Final = "stub"
CONTEXT_TOKENS: Final = 6000
CALL: Final = json.dumps({"city": "Paris", "sunny": True})


class Fault(StrEnum):
    """Something that a server gets wrong."""

    NOT_LISTED_AS_MODEL = auto()
    NO_CREATED = auto()
    UNKNOWN_MODEL_DESCRIBED = auto()
    MODEL_NOT_DESCRIBED = auto()
    CLIENT_BLOCKED = auto()
    NO_ROLE_IN_ANSWER = auto()
    CHAT_ANSWER_FOR_COMPLETION = auto()
    SECOND_TURN_REFUSED = auto()
    SYSTEM_MESSAGE_REFUSED = auto()
    PARTS_REFUSED = auto()
    SHORT_PROMPT_CRASHES = auto()
    PLAIN_TEXT_STREAM = auto()
    NO_DONE = auto()
    TWO_DONE = auto()
    NO_ROLE = auto()
    OTHER_MODEL_IN_CHUNKS = auto()
    CHUNK_AFTER_FINISH = auto()
    CHUNK_LOST = auto()
    NO_USAGE_CHUNK = auto()
    USAGE_UNASKED = auto()
    USAGE_NOT_NULL = auto()
    BROKEN_CHARACTERS = auto()
    REPLACED_CHARACTERS = auto()
    MIXED_STREAMS = auto()
    STUCK_AFTER_CANCEL = auto()
    ONE_CHOICE_STREAMED = auto()
    CHOICES_SWAPPED_IN_STREAM = auto()
    MAX_TOKENS_IGNORED = auto()
    MAX_COMPLETION_TOKENS_IGNORED = auto()
    ONE_TOKEN_TOO_MANY = auto()
    FINISH_STOP_FOR_LENGTH = auto()
    STOP_LEAKED = auto()
    FINISH_LENGTH_FOR_STOP = auto()
    ONLY_FIRST_STOP = auto()
    ONLY_LAST_STOP = auto()
    LATER_STOP_WINS = auto()
    STOP_IN_ONE_TOKEN = auto()
    STOP_LEAKED_IN_STREAM = auto()
    NEVER_STOP_STOPS = auto()
    FIRST_TOKEN_UNSTOPPED = auto()
    FINISH_LENGTH_AT_THE_END = auto()
    ONE_CHOICE = auto()
    LOGPROB_MISSING = auto()
    TOP_LOGPROB_MISSING = auto()
    STREAMED_LOGPROB_MISSING = auto()
    STREAMED_TOKEN_WITHHELD = auto()
    COMPLETION_LOGPROB_MISSING = auto()
    LOGPROBS_NOT_A_NUMBER = auto()
    SEED_IGNORED = auto()
    TOTAL_OFF_BY_ONE = auto()
    COMPLETION_OFF_BY_ONE = auto()
    STREAMED_USAGE_OFF_BY_ONE = auto()
    TOKEN_IDS_OFF_BY_ONE = auto()
    PROMPT_OFF_BY_ONE = auto()
    PROMPT_TOKENS_CAPPED = auto()
    ONE_CHOICE_COUNTED = auto()
    TOKENIZE_DIFFERS = auto()
    UNKNOWN_MODEL_ACCEPTED = auto()
    UNKNOWN_MODEL_FORM = auto()
    MALFORMED_ACCEPTED = auto()
    MALFORMED_FORM = auto()
    NO_MESSAGES_ACCEPTED = auto()
    WRONG_TYPE_CRASHES = auto()
    TEMPERATURE_ACCEPTED = auto()
    ERROR_AS_EVENT = auto()
    NEGATIVE_MAX_TOKENS_ACCEPTED = auto()
    NO_CHOICE_ACCEPTED = auto()
    PROMPT_TRUNCATED = auto()
    NO_MODEL_ACCEPTED = auto()
    UNKNOWN_PATH_ACCEPTED = auto()
    GET_ACCEPTED = auto()
    KEY_IGNORED = auto()
    NUMBER_AS_CODE = auto()
    OBJECT_AS_PARAM = auto()
    TOOL_ARGUMENTS_BROKEN = auto()
    STREAMED_ARGUMENTS_BROKEN = auto()
    TOOL_CALLED_DESPITE_NONE = auto()
    FINISH_STOP_FOR_REQUIRED_TOOL = auto()
    JSON_IN_A_FENCE = auto()
    SCHEMA_IGNORED = auto()
    ZEROED_BLOCKS = auto()
    LOST_CACHE = auto()
    # Of the Prometheus page beside it: decode computes prompts itself.
    NOTHING_RECEIVED = auto()


class Lack(StrEnum):
    """Something that a server, or its model, may do without."""

    COMPLETIONS = auto()
    LOGPROBS = auto()
    SEVERAL_CHOICES = auto()
    TOOLS = auto()
    TOKENIZE = auto()
    TOKEN_IDS = auto()
    TOLD_CONTEXT = auto()
    LONG_CONTEXT = auto()
    ROOM = auto()
    LONG_STREAMS = auto()
    LONG_ANSWERS = auto()
    OWN_END = auto()
    SAME_ANSWERS = auto()
    WIDE_CHARACTERS = auto()


class Quirk(StrEnum):
    """Something that a right server may do and few do."""

    NULL_ERROR = auto()
    SEVERAL_DATA_LINES = auto()
    CARRIAGE_RETURNS = auto()
    COMMENTS = auto()
    DATED_MODEL = auto()
    MAX_COMPLETION_TOKENS_ONLY = auto()
    STORED_ANSWERS = auto()


class RefusedError(Exception):
    """A request is refused."""

    def __init__(self, status: int, message: str, param: Any = None, form: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        error = {"message": message, "type": "invalid_request_error", "param": param, "code": None}
        self.status = status
        self.body = form or {"error": error}


@dataclass
class Stub:
    """One server's behaviour."""

    faults: frozenset[Fault] = frozenset()
    lacks: frozenset[Lack] = frozenset()
    quirks: frozenset[Quirk] = frozenset()
    api_key: str | None = None
    refuses_unknown_fields: bool = False
    salts: set[str] = field(default_factory=set)
    delay_seconds: float = 0
    bytes_at_once: int | None = None
    requests: int = 0
    abandoned: bool = False
    previous_topic: str | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    ids: Iterator[int] = field(default_factory=itertools.count)

    def has(self, fault: Fault) -> bool:
        return fault in self.faults

    # -- what is asked for -------------------------------------------------------------------------------------------

    def get(self, path: str) -> dict[str, Any]:
        entry: dict[str, Any] = {"id": MODEL, "object": "model", "owned_by": "stub", "created": 1_700_000_000}
        if Lack.TOLD_CONTEXT not in self.lacks:
            entry["max_model_len"] = self.context_tokens
        if self.has(Fault.NOT_LISTED_AS_MODEL):
            entry["object"] = "engine" if path == "/v1/models" else "model"
        if self.has(Fault.NO_CREATED):
            del entry["created"]
        if path == "/v1/models":
            return {"object": "list", "data": [entry]}
        if path.startswith("/v1/models/"):
            if path.endswith(f"/{MODEL}") and self.has(Fault.MODEL_NOT_DESCRIBED):
                raise RefusedError(404, "no such path")
            if path.endswith(f"/{MODEL}") or self.has(Fault.UNKNOWN_MODEL_DESCRIBED):
                return entry
            raise RefusedError(404, "no such model")
        if path == "/v1/chat/completions":
            return self._stored_answers()
        raise RefusedError(404, "no such path")

    def _stored_answers(self) -> dict[str, Any]:
        if Quirk.STORED_ANSWERS in self.quirks:
            return {"object": "list", "data": []}
        if self.has(Fault.GET_ACCEPTED):
            return {"choices": []}
        raise RefusedError(405, "POST it")

    def refuse(self, path: str, body: dict[str, Any]) -> None:
        """Refuse what is wrong with a request."""
        if "model" not in body and not self.has(Fault.NO_MODEL_ACCEPTED):
            raise RefusedError(400, "model is missing", "model")
        model = body.get("model", MODEL)
        if model != MODEL and not self.has(Fault.UNKNOWN_MODEL_ACCEPTED):
            form = {"detail": "no such model"} if self.has(Fault.UNKNOWN_MODEL_FORM) else None
            raise RefusedError(404, f"there is no model {model}", "model", form)
        if path.endswith("chat/completions") and "messages" not in body and not self.has(Fault.NO_MESSAGES_ACCEPTED):
            raise RefusedError(400, "messages are missing", {} if self.has(Fault.OBJECT_AS_PARAM) else "messages")
        self._refuse_numbers(body)
        # Most engines take what is too long to answer whole; some refuse it.
        answer = limit_of(body) if Lack.ROOM in self.lacks else 0
        if prompt_tokens(body) + answer > self.context_tokens and not self.has(Fault.PROMPT_TRUNCATED):
            raise RefusedError(400, "the prompt is too long", "messages")
        self._refuse_messages(body)
        self._refuse_features(path, body)

    @property
    def context_tokens(self) -> int:
        if Lack.ROOM in self.lacks:
            return 64
        return 80 if Lack.LONG_CONTEXT in self.lacks else CONTEXT_TOKENS

    def _refuse_features(self, path: str, body: dict[str, Any]) -> None:
        """Refuse what the server does not offer."""
        asked = {
            Lack.COMPLETIONS: path == "/v1/completions",
            Lack.LOGPROBS: "logprobs" in body,
            Lack.SEVERAL_CHOICES: body.get("n", 1) > 1,
            Lack.TOOLS: "tools" in body or "response_format" in body,
            Lack.TOKEN_IDS: isinstance(body.get("prompt"), list),
            Lack.LONG_STREAMS: limit_of(body) > 500,
        }
        if Quirk.MAX_COMPLETION_TOKENS_ONLY in self.quirks and "max_tokens" in body and path != "/v1/completions":
            raise RefusedError(400, "max_tokens is not supported, use max_completion_tokens", "max_tokens")
        for lack in self.lacks:
            if asked.get(lack):
                raise RefusedError(404 if lack is Lack.COMPLETIONS else 400, f"there are no {lack}")

    def _refuse_messages(self, body: dict[str, Any]) -> None:
        if "cache_salt" in body:
            if self.refuses_unknown_fields:
                raise RefusedError(400, "there is no such field", "cache_salt")
            self.salts.add(body["cache_salt"])
        if self.has(Fault.SHORT_PROMPT_CRASHES) and prompt_tokens(body) == 1:
            raise RefusedError(500, "it crashed")
        for message in body.get("messages", []):
            if isinstance(message["content"], list) and self.has(Fault.PARTS_REFUSED):
                raise RefusedError(400, "content must be text", "messages")
            if message["role"] == "system" and self.has(Fault.SYSTEM_MESSAGE_REFUSED):
                raise RefusedError(400, "there is no system role", "messages")
            if message["role"] == "assistant" and self.has(Fault.SECOND_TURN_REFUSED):
                raise RefusedError(400, "there is no assistant role", "messages")

    def _refuse_numbers(self, body: dict[str, Any]) -> None:
        temperature = body.get("temperature", 1)
        if not isinstance(temperature, int | float):
            if self.has(Fault.WRONG_TYPE_CRASHES):
                raise RefusedError(500, "it crashed")
            raise RefusedError(400, "temperature must be a number", "temperature")
        if temperature < 0 and not self.has(Fault.TEMPERATURE_ACCEPTED):
            error = RefusedError(400, "temperature must not be negative", "temperature")
            if self.has(Fault.NUMBER_AS_CODE):
                error.body["error"]["code"] = 400
            raise error
        if limit_of(body) < 0 and not self.has(Fault.NEGATIVE_MAX_TOKENS_ACCEPTED):
            raise RefusedError(400, "max_tokens must be positive", "max_tokens")
        if body.get("n") == 0 and not self.has(Fault.NO_CHOICE_ACCEPTED):
            raise RefusedError(400, "n must be positive", "n")

    # -- what is answered --------------------------------------------------------------------------------------------

    def tokenize(self, body: dict[str, Any]) -> dict[str, Any]:
        return {"count": tokens_of(body["prompt"]) + self.has(Fault.TOKENIZE_DIFFERS)}

    def choices(self, body: dict[str, Any]) -> list[Written]:
        count = body.get("n") or 1
        stream = bool(body.get("stream"))
        if self.has(Fault.ONE_CHOICE_STREAMED if stream else Fault.ONE_CHOICE):
            count = 1
        return [self.written(body, index) for index in range(count)]

    def written(self, body: dict[str, Any], index: int) -> Written:
        fixed = self._fixed(body)
        if fixed is not None:
            return fixed
        tokens = [token(self._key(body, index), place) for place in range(self._limit(body))]
        natural = len(tokens) >= NATURAL_TOKENS or (Lack.LONG_ANSWERS in self.lacks and len(tokens) == 5)
        natural = natural and Lack.OWN_END not in self.lacks
        written = Written(tokens, "".join(one.text for one in tokens), "stop" if natural else "length")
        if natural and self.has(Fault.FINISH_LENGTH_AT_THE_END):
            written.reason = "length"
        if self.has(Fault.FINISH_STOP_FOR_LENGTH):
            written.reason = "stop"
        self._stop(body, written)
        return written

    def _fixed(self, body: dict[str, Any]) -> Written | None:
        """Return a tool call or JSON, where it is asked for."""
        choice, form = body.get("tool_choice"), (body.get("response_format") or {}).get("type")
        if body.get("tools") and (choice != "none" or self.has(Fault.TOOL_CALLED_DESPITE_NONE)):
            broken = self.has(Fault.TOOL_ARGUMENTS_BROKEN) and choice not in ("required", "none")
            reason = "tool_calls" if choice == "required" else "stop"
            if self.has(Fault.FINISH_STOP_FOR_REQUIRED_TOOL):
                reason = "stop"
            return Written([], "", reason, CALL[:-1] if broken and not body.get("stream") else CALL)
        if form == "json_object":
            return Written([], f"```json\n{CALL}\n```" if self.has(Fault.JSON_IN_A_FENCE) else CALL, "stop")
        if form == "json_schema":
            return Written([], '{"town": 1}' if self.has(Fault.SCHEMA_IGNORED) else CALL, "stop")
        return None

    def _key(self, body: dict[str, Any], index: int) -> str:
        prompt = prompt_text(body)
        if self.has(Fault.ZEROED_BLOCKS) and tokens_of(prompt) > 300:
            prompt = f"{prompt[:100]}{prompt[400:]}"
        if self.has(Fault.LOST_CACHE):
            prompt = prompt[-16:]
        if Lack.SAME_ANSWERS in self.lacks:
            return f"{prompt}:{next(self.ids)}"
        if Lack.WIDE_CHARACTERS in self.lacks:
            prompt = ascii(prompt)
        if not body.get("temperature", 1):
            return prompt
        seed = next(self.ids) if self.has(Fault.SEED_IGNORED) else body.get("seed")
        return f"{prompt}:{index}:{seed}"

    def _limit(self, body: dict[str, Any]) -> int:
        limits = [
            None if self.has(Fault.MAX_TOKENS_IGNORED) else body.get("max_tokens"),
            None if self.has(Fault.MAX_COMPLETION_TOKENS_IGNORED) else body.get("max_completion_tokens"),
        ]
        limit = min((limit for limit in limits if limit is not None and limit > 0), default=NATURAL_TOKENS)
        if Lack.OWN_END in self.lacks:
            return limit
        most = 5 if Lack.LONG_ANSWERS in self.lacks else NATURAL_TOKENS
        return 2 if limit == 1 and self.has(Fault.ONE_TOKEN_TOO_MANY) else min(limit, most)

    def _stop(self, body: dict[str, Any], written: Written) -> None:
        stop, stream = body.get("stop"), bool(body.get("stream"))
        sequences = [stop] if isinstance(stop, str) else list(stop or ())
        if self.has(Fault.ONLY_FIRST_STOP):
            sequences = [one for one in sequences if "never" not in one][:1]
        if self.has(Fault.ONLY_LAST_STOP):
            sequences = [one for one in sequences if "never" not in one][-1:]
        if self.has(Fault.LATER_STOP_WINS):
            sequences = sorted(sequences, key=written.text.find)[-1:]
        if self.has(Fault.STOP_IN_ONE_TOKEN) and not stream:
            sequences = [one for one in sequences if any(one in token.text for token in written.tokens)]
        if (
            self.has(Fault.NEVER_STOP_STOPS)
            and any(one not in written.text for one in sequences)
            and len(sequences) == 1
        ):
            written.text = written.text[:10]
        if self.has(Fault.FIRST_TOKEN_UNSTOPPED):
            sequences = [one for one in sequences if not written.text.startswith(one)]
        found = [(written.text.find(one), one) for one in sequences if one in written.text]
        if not found:
            return
        at, sequence = min(found)
        leaked = self.has(Fault.STOP_LEAKED_IN_STREAM) if stream else self.has(Fault.STOP_LEAKED) and stop == sequence
        written.text = written.text[: at + (len(sequence) if leaked else 0)]
        written.reason = "length" if self.has(Fault.FINISH_LENGTH_FOR_STOP) and not stream else "stop"
        length = 0
        for count, one in enumerate(written.tokens, start=1):
            length += len(one.text)
            if length >= at + len(sequence):
                del written.tokens[count:]

    def usage(self, body: dict[str, Any], choices: list[Written]) -> dict[str, int]:
        counted = choices[:1] if self.has(Fault.ONE_CHOICE_COUNTED) else choices
        completion = sum(len(written.tokens) or tokens_of(written.text) for written in counted)
        completion += self.has(Fault.COMPLETION_OFF_BY_ONE) and all(one.reason == "length" for one in choices)
        completion += self.has(Fault.STREAMED_USAGE_OFF_BY_ONE) and bool(body.get("stream"))
        prompt = prompt_tokens(body)
        prompt += self.has(Fault.TOKEN_IDS_OFF_BY_ONE) and isinstance(body.get("prompt"), list)
        prompt += self.has(Fault.PROMPT_OFF_BY_ONE) and isinstance(body.get("prompt"), str)
        if self.has(Fault.PROMPT_TOKENS_CAPPED):
            prompt = min(prompt, 50)
        total = prompt + completion + self.has(Fault.TOTAL_OFF_BY_ONE)
        return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}

    def head(self, object: str) -> dict[str, Any]:
        model = f"{MODEL}-2026-11-30" if Quirk.DATED_MODEL in self.quirks else MODEL
        error = {"error": None} if Quirk.NULL_ERROR in self.quirks else {}
        return {"id": f"id-{next(self.ids)}", "object": object, "created": 1_700_000_000, "model": model, **error}

    def answer(self, body: dict[str, Any], is_chat: bool) -> dict[str, Any]:
        choices = self.choices(body)
        listed = [self._choice(body, index, written, is_chat) for index, written in enumerate(choices)]
        is_chat = is_chat or self.has(Fault.CHAT_ANSWER_FOR_COMPLETION)
        head = self.head("chat.completion" if is_chat else "text_completion")
        return {**head, "choices": listed, "usage": self.usage(body, choices)}

    def _choice(self, body: dict[str, Any], index: int, written: Written, is_chat: bool) -> dict[str, Any]:
        choice: dict[str, Any] = {"index": index, "finish_reason": written.reason, "logprobs": None}
        if not is_chat:
            logprobs = self._completion_logprobs(body, written.tokens)
            return {**choice, "text": written.text, "logprobs": logprobs}
        message: dict[str, Any] = {"role": "assistant", "content": written.text}
        if self.has(Fault.NO_ROLE_IN_ANSWER):
            message["role"] = "user"
        if written.call is not None:
            function = {"name": "get_weather", "arguments": written.call}
            message |= {"content": None, "tool_calls": [{"id": "call-1", "type": "function", "function": function}]}
        if body.get("logprobs"):
            tokens = written.tokens[:-1] if self.has(Fault.LOGPROB_MISSING) else written.tokens
            choice["logprobs"] = {"content": [self._logprob(body, one) for one in tokens]}
        return {**choice, "message": message}

    def _logprob(self, body: dict[str, Any], one: Token) -> dict[str, Any]:
        count = (body.get("top_logprobs") or 0) - self.has(Fault.TOP_LOGPROB_MISSING)
        top = [{"token": text, "logprob": logprob, "bytes": None} for text, logprob in one.top[: max(count, 0)]]
        return {"token": one.text, "logprob": one.logprob, "bytes": list(one.text.encode()), "top_logprobs": top}

    def _completion_logprobs(self, body: dict[str, Any], tokens: list[Token]) -> dict[str, Any] | None:
        count = body.get("logprobs")
        if count is None:
            return None
        offsets = itertools.accumulate((len(one.text) for one in tokens[:-1]), initial=0)
        logprobs = [one.logprob for one in tokens]
        if self.has(Fault.COMPLETION_LOGPROB_MISSING) and count == 3:
            logprobs.pop()
        if self.has(Fault.LOGPROBS_NOT_A_NUMBER):
            logprobs = [math.nan for _ in logprobs]
        top = [dict(one.top[:count]) for one in tokens]
        texts = [one.text for one in tokens]
        return {"tokens": texts, "token_logprobs": logprobs, "top_logprobs": top, "text_offset": list(offsets)}

    # -- streams -----------------------------------------------------------------------------------------------------

    def events(self, body: dict[str, Any], is_chat: bool) -> Iterator[bytes]:
        choices = self.choices(body)
        asked = bool((body.get("stream_options") or {}).get("include_usage"))
        head = self.head("chat.completion.chunk" if is_chat else "text_completion")
        if self.has(Fault.OTHER_MODEL_IN_CHUNKS):
            head["model"] = "other"
        null: dict[str, Any] = {"usage": None} if asked else {}
        if self.has(Fault.USAGE_NOT_NULL) and asked:
            null = {"usage": self.usage(body, choices)}
        if self.has(Fault.USAGE_UNASKED) and not asked:
            null = {"usage": self.usage(body, choices)}
        for index, written in enumerate(choices):
            for choice in self._chunks(body, index, written, is_chat):
                yield from self._encoded({**head, **null, "choices": [choice]})
        if asked and not self.has(Fault.NO_USAGE_CHUNK):
            yield from self._encoded({**head, "choices": [], "usage": self.usage(body, choices)})
        for _ in range(0 if self.has(Fault.NO_DONE) else 2 if self.has(Fault.TWO_DONE) else 1):
            yield b"data: [DONE]\n\n"

    def _chunks(self, body: dict[str, Any], index: int, written: Written, is_chat: bool) -> Iterator[dict[str, Any]]:
        def chunk(text: str | None, one: Token | None = None, **delta: Any) -> dict[str, Any]:
            choice: dict[str, Any] = {"index": index, "finish_reason": None, "logprobs": None}
            if is_chat:
                choice["delta"] = {**({} if text is None else {"content": text}), **delta}
                if body.get("logprobs") and one is not None:
                    choice["logprobs"] = {"content": [self._logprob(body, one)]}
            else:
                choice["text"] = text or ""
            return choice

        if is_chat:
            yield chunk("", role=None if self.has(Fault.NO_ROLE) else "assistant")
        if written.call is not None:
            yield from (chunk(None, tool_calls=[call]) for call in self._pieces(written.call))
        pieces = self._texts(body, written)
        for place, text in enumerate(pieces):
            one = written.tokens[place] if place < len(written.tokens) else None
            if self._is_lost(body, place, text):
                continue
            if self.has(Fault.STREAMED_LOGPROB_MISSING) and place == 2:
                one = None
            swapped = self.has(Fault.CHOICES_SWAPPED_IN_STREAM) and body.get("n") == 2 and place % 2 == 1
            yield {**chunk(text, one), "index": 1 - index if swapped else index}
        yield {**chunk(None), "finish_reason": written.reason}
        if self.has(Fault.CHUNK_AFTER_FINISH):
            yield chunk("")

    def _is_lost(self, body: dict[str, Any], place: int, text: str) -> bool:
        if body.get("logprobs"):
            return place == 3 and self.has(Fault.STREAMED_TOKEN_WITHHELD)
        return place == 3 and self.has(Fault.CHUNK_LOST) and text.isascii()

    def _texts(self, body: dict[str, Any], written: Written) -> list[str]:
        """Return the text of each token, as far as it is said."""
        text = self._swapped(body, written.text)
        pieces, at = [], 0
        for one in written.tokens:
            pieces.append(text[at : at + len(one.text)])
            at += len(one.text)
        if text[at:]:
            pieces.append(text[at:])
        if self.has(Fault.REPLACED_CHARACTERS):
            pieces = [piece.replace("ü", "\ufffd\ufffd") for piece in pieces]
        return pieces

    def _swapped(self, body: dict[str, Any], text: str) -> str:
        """Say what another stream should have said, as a server does that mixes its buffers."""
        if not self.has(Fault.MIXED_STREAMS) or "long list of" not in prompt_text(body):
            return text
        with self.lock:
            before, self.previous_topic = self.previous_topic, text
        return before or text

    def _pieces(self, call: str) -> Iterator[dict[str, Any]]:
        yield {"index": 0, "id": "call-1", "type": "function", "function": {"name": "get_weather", "arguments": ""}}
        for at in range(0, len(call), 5):
            if not (self.has(Fault.STREAMED_ARGUMENTS_BROKEN) and at == 5):
                yield {"index": 0, "function": {"arguments": call[at : at + 5]}}

    def _encoded(self, chunk: dict[str, Any]) -> Iterator[bytes]:
        lines = json.dumps(chunk, ensure_ascii=False, indent=1 if Quirk.SEVERAL_DATA_LINES in self.quirks else None)
        event = "".join(f"data: {line}\n" for line in lines.split("\n")).encode() + b"\n"
        if Quirk.COMMENTS in self.quirks:
            event = b": ping\n\nevent: message\n" + event.replace(b"data: ", b"data:")
        if Quirk.CARRIAGE_RETURNS in self.quirks:
            event = event.replace(b"\n", b"\r")
        if self.has(Fault.BROKEN_CHARACTERS):
            event = event.replace("ü".encode(), "ü".encode()[:1])
        yield event


@dataclass
class Written:
    """One choice's tokens, its text, why it ended, and the arguments of a tool call."""

    tokens: list[Token]
    text: str
    reason: str
    call: str | None = None


def prompt_text(body: dict[str, Any]) -> str:
    """Return a request's prompt as one text."""
    if "messages" not in body:
        return str(body.get("prompt", ""))
    return "\n".join(f"{message['role']}: {_content(message)}" for message in body["messages"])


def limit_of(body: dict[str, Any]) -> int:
    """Return how many tokens a request allows an answer, 1 where it does not say."""
    return int(body.get("max_tokens") or body.get("max_completion_tokens") or 1)


def prompt_tokens(body: dict[str, Any]) -> int:
    """Return how many tokens a request's prompt has; a chat's message has two more."""
    prompt = body.get("prompt")
    if isinstance(prompt, list):
        return len(prompt)
    if isinstance(prompt, str):
        return tokens_of(prompt)
    return sum(tokens_of(_content(message)) + 2 for message in body.get("messages", []))


def _content(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


class Handler(BaseHTTPRequestHandler):
    """Speaks HTTP for a stub."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    stub: Stub

    def do_GET(self) -> None:
        time.sleep(self.stub.delay_seconds)
        self._guarded(lambda: self._json(200, self.stub.get(self.path)))

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        self._guarded(lambda: self._post(sent))

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def _guarded(self, act: Any) -> None:
        stub = self.stub
        stub.requests += 1
        try:
            key = self.headers.get("Authorization")
            may = stub.api_key is None or key == f"Bearer {stub.api_key}" or stub.has(Fault.KEY_IGNORED)
            if not may:
                raise RefusedError(401, f"wrong key: {key}")
            if stub.has(Fault.CLIENT_BLOCKED) and "OpenAI" in self.headers["User-Agent"]:
                raise RefusedError(403, "no robots")
            act()
        except RefusedError as error:
            self._json(error.status, error.body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _post(self, sent: bytes) -> None:
        stub = self.stub
        try:
            body = json.loads(sent)
        except ValueError:
            self._malformed()
            return
        if self.path == "/tokenize" and Lack.TOKENIZE not in stub.lacks:
            self._json(200, stub.tokenize(body))
        elif self.path in ("/v1/chat/completions", "/v1/completions"):
            self._generate(body)
        elif stub.has(Fault.UNKNOWN_PATH_ACCEPTED):
            self._json(200, {})
        else:
            raise RefusedError(404, "no such path")

    def _malformed(self) -> None:
        if self.stub.has(Fault.MALFORMED_ACCEPTED):
            self._json(200, {"choices": []})
            return
        form = {"detail": "bad JSON"} if self.stub.has(Fault.MALFORMED_FORM) else None
        raise RefusedError(400, "the body is no JSON", None, form)

    def _generate(self, body: dict[str, Any]) -> None:
        is_chat = self.path.endswith("chat/completions")
        try:
            self.stub.refuse(self.path, body)
        except RefusedError as error:
            if not (body.get("stream") and self.stub.has(Fault.ERROR_AS_EVENT)):
                raise
            self._stream(iter([f"data: {json.dumps(error.body)}\n\n".encode(), b"data: [DONE]\n\n"]))
            return
        if body.get("stream"):
            self.stub.abandoned = self.stub.has(Fault.STUCK_AFTER_CANCEL) and limit_of(body) == 1000
            self._stream(self.stub.events(body, is_chat))
        elif self.stub.abandoned:
            self.stub.abandoned = False
            raise RefusedError(503, "it is stuck")
        else:
            self._json(200, self.stub.answer(body, is_chat))

    def _json(self, status: int, data: Any) -> None:
        body = json.dumps(data, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, events: Iterator[bytes]) -> None:
        self.send_response(200)
        plain = self.stub.has(Fault.PLAIN_TEXT_STREAM)
        self.send_header("Content-Type", "text/plain" if plain else "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            size = self.stub.bytes_at_once or len(event)
            for at in range(0, len(event), size):
                part = event[at : at + size]
                self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
                self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients hang up on purpose."""


@contextmanager
def served(handler: type[BaseHTTPRequestHandler], certificate: ssl.SSLContext | None = None) -> Iterator[str]:
    """Serve on a free port of 127.0.0.1 and give the server's address."""
    server = _Server(("127.0.0.1", 0), handler)
    if certificate is not None:
        server.socket = certificate.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        scheme = "http" if certificate is None else "https"
        yield f"{scheme}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def running(stub: Stub, certificate: ssl.SSLContext | None = None) -> Iterator[str]:
    """Serve a stub and give the base URL of its API."""
    handler = type("StubHandler", (Handler,), {"stub": stub})
    with served(handler, certificate) as address:
        yield f"{address}/v1"
