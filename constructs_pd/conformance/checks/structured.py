"""CF8xx: tools and JSON, where an endpoint has them."""

from __future__ import annotations

import json
from typing import Any, Final

from constructs_pd.conformance.check import check
from constructs_pd.conformance.outcome import CheckFailedError, NotSupportedError, require
from constructs_pd.conformance.session import Session, choices_of, streamed_choices
from constructs_pd.conformance.surface import CHAT

# A model that likes spaces needs many for a small object.
TOKENS: Final = 256
QUESTION: Final = "What is the weather in Paris? Answer with JSON."
SCHEMA: Final = {
    "type": "object",
    "properties": {"city": {"enum": ["Paris", "London"]}, "sunny": {"type": "boolean"}},
    "required": ["city", "sunny"],
    "additionalProperties": False,
}
TOOL: Final = {"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}
NAMED: Final = {"type": "function", "function": {"name": "get_weather"}}


@check(
    "CF801",
    "A tool that tool_choice names is called with arguments that its schema allows",
    "ChatCompletionNamedToolChoice",
)
def named_tool(session: Session) -> str:
    """Force a call and read its arguments."""
    answer = session.ask(CHAT, QUESTION, tools=[TOOL], tool_choice=NAMED, max_tokens=TOKENS).require_supported()
    (choice, *_) = choices_of(answer.require_data())
    _require_end(choice.get("finish_reason"))
    calls: Any = (choice.get("message") or {}).get("tool_calls")
    require(isinstance(calls, list) and len(calls) == 1, "one tool call", f"tool_calls: {calls!r}")
    require(
        isinstance(calls[0].get("id"), str) and calls[0].get("type") == "function", "a call with id and type", calls
    )
    return _require_call(calls[0].get("function") or {}, choice.get("finish_reason"))


@check("CF802", "A stream's pieces of a tool call join to the same", "ChatCompletionMessageToolCallChunk")
def streamed_tool(session: Session) -> str:
    """Join name and arguments of all chunks."""
    options = {"tools": [TOOL], "tool_choice": NAMED, "max_tokens": TOKENS, "stream": True}
    choices = streamed_choices(session.ask(CHAT, QUESTION, **options).require_supported())
    reason = next((choice["finish_reason"] for choice in choices if choice.get("finish_reason")), None)
    _require_end(reason)
    calls = [call for choice in choices for call in (choice.get("delta") or {}).get("tool_calls") or ()]
    require({call.get("index") for call in calls} == {0}, "pieces of call 0", calls[:2])
    pieces = [call.get("function") or {} for call in calls]
    joined = {name: "".join(piece.get(name) or "" for piece in pieces) for name in ("name", "arguments")}
    return _require_call(joined, reason)


@check("CF803", "tool_choice: none calls no tool", "ChatCompletionToolChoiceOption")
def no_tool(session: Session) -> str:
    """Offer a tool and forbid it."""
    answer = session.ask(CHAT, QUESTION, tools=[TOOL], tool_choice="none", max_tokens=8).require_supported()
    calls = (choices_of(answer.require_data())[0].get("message") or {}).get("tool_calls")
    require(not calls, "no tool call", f"tool_calls: {calls!r}")
    return "none"


@check("CF804", "finish_reason is tool_calls where tools were required", "CreateChatCompletionResponse.finish_reason")
def required_tool(session: Session) -> str:
    """Require some tool."""
    options = {"tools": [TOOL], "tool_choice": "required", "max_tokens": TOKENS}
    (choice, *_) = choices_of(session.ask(CHAT, QUESTION, **options).require_supported().require_data())
    _require_end(choice.get("finish_reason"))
    calls = (choice.get("message") or {}).get("tool_calls")
    require(bool(calls), "a tool call", f"tool_calls: {calls!r}")
    require(choice["finish_reason"] == "tool_calls", "finish_reason: tool_calls", f"{choice['finish_reason']!r}")
    return "tool_calls"


@check("CF805", "response_format json_object gives a JSON object", "ResponseFormatJsonObject")
def json_object(session: Session) -> str:
    """Read the answer as JSON."""
    found = _formatted(session, {"type": "json_object"})
    require(isinstance(found, dict), "a JSON object", found)
    return f"{found}"[:80]


@check("CF806", "response_format json_schema gives what the schema allows", "ResponseFormatJsonSchema")
def json_schema(session: Session) -> str:
    """Compare with the schema."""
    form = {"type": "json_schema", "json_schema": {"name": "weather", "schema": SCHEMA, "strict": True}}
    found = _formatted(session, form)
    require(_allowed(found), "a city and whether it is sunny", found)
    return f"{found}"


def _formatted(session: Session, form: dict[str, Any]) -> Any:
    answer = session.ask(CHAT, QUESTION, response_format=form, max_tokens=TOKENS).require_supported()
    (choice, *_) = choices_of(answer.require_data())
    _require_end(choice.get("finish_reason"))
    return _read((choice.get("message") or {}).get("content"))


def _require_end(reason: Any) -> None:
    if reason == "length":
        raise NotSupportedError(f"the model did not come to an end within {TOKENS} tokens")


def _require_call(function: dict[str, Any], reason: Any) -> str:
    require(function.get("name") == "get_weather", "a call of get_weather", function)
    require(_allowed(_read(function.get("arguments"))), "arguments that the schema allows", function)
    # OpenAI ends a call of a named tool with stop.
    require(reason in ("stop", "tool_calls"), "finish_reason: stop or tool_calls", f"finish_reason: {reason!r}")
    return f"{function['arguments']}"


def _allowed(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"city", "sunny"}
        and value["city"] in ("Paris", "London")
        and isinstance(value["sunny"], bool)
    )


def _read(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        raise CheckFailedError("JSON", repr(text)) from None


CHECKS = (named_tool, streamed_tool, no_tool, required_tool, json_object, json_schema)
