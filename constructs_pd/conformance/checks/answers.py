"""CF2xx: the form of an answer, and the forms of a conversation."""

from __future__ import annotations

from typing import Any, Final

from constructs_pd.conformance.check import check
from constructs_pd.conformance.outcome import require
from constructs_pd.conformance.session import PROMPT, Session, choices_of
from constructs_pd.conformance.surface import CHAT, COMPLETIONS, Surface

REASONS: Final = {"stop", "length", "content_filter", "tool_calls", "function_call"}


@check(
    "CF201", "A chat answer has its id, type, time, model, message and finish_reason", "CreateChatCompletionResponse"
)
def chat(session: Session) -> str:
    """Look at every required field."""
    data = session.answer(CHAT)
    _require_head(session, CHAT, data)
    message = choices_of(data)[0].get("message")
    require(isinstance(message, dict) and message.get("role") == "assistant", "a message of the assistant", message)
    require(bool(session.offered(CHAT).text(choices_of(data)[0])), "a message with text", message)
    return f"{CHAT.text(choices_of(data)[0])[:40]!r}"


@check("CF202", "A completion has its id, type, time, model, text and finish_reason", "CreateCompletionResponse")
def completion(session: Session) -> str:
    """Look at every required field."""
    data = session.answer(session.offered(COMPLETIONS))
    _require_head(session, COMPLETIONS, data)
    text = choices_of(data)[0].get("text")
    require(isinstance(text, str) and bool(text), "text", f"text: {text!r}")
    return f"{text[:40]!r}"


@check("CF203", "OpenAI's client reads an answer", "openai.OpenAI().chat.completions.create, .completions.create")
def client(session: Session) -> str:
    """Let the client ask both ways."""
    openai, model, limit = session.endpoint.openai, session.settings.model, {session.limit_name(CHAT): 4}
    said = session.endpoint.in_time(
        lambda: openai.chat.completions.create(
            model=model, messages=[{"role": "user", "content": PROMPT}], temperature=0, extra_body=limit
        )
    )
    require(said.choices[0].message.role == "assistant", "a message of the assistant", said.choices[0].message.role)
    if COMPLETIONS in session.surfaces:
        written = session.endpoint.in_time(
            lambda: session.endpoint.openai.completions.create(model=model, prompt=PROMPT, max_tokens=4, temperature=0)
        )
        require(isinstance(written.choices[0].text, str), "text", written.choices[0])
    return "read"


@check("CF204", "A conversation of several turns is accepted", "CreateChatCompletionRequest.messages")
def turns(session: Session) -> str:
    """Send a user's, an assistant's and a user's message."""
    messages = [
        {"role": "user", "content": "My name is Ada."},
        {"role": "assistant", "content": "Hello Ada."},
        {"role": "user", "content": "What is my name?"},
    ]
    return _accepted(session, messages)


@check("CF205", "A system message is accepted", "ChatCompletionRequestSystemMessage")
def system(session: Session) -> str:
    """Send a system's and a user's message."""
    messages = [{"role": "system", "content": "Answer in one word."}, {"role": "user", "content": PROMPT}]
    return _accepted(session, messages)


@check(
    "CF206", "A message whose content is a list of text parts is accepted", "ChatCompletionRequestUserMessage.content"
)
def parts(session: Session) -> str:
    """Send one message in two parts."""
    content = [{"type": "text", "text": "Count from one to ten."}, {"type": "text", "text": "In words."}]
    return _accepted(session, [{"role": "user", "content": content}])


@check("CF207", "A prompt of one token is answered", "CreateCompletionRequest.prompt")
def short_prompt(session: Session) -> str:
    """Send the shortest prompt there is: less than a block of a KV cache."""
    (choice, *_) = session.choices(session.offered(COMPLETIONS), "a", max_tokens=8)
    require(isinstance(choice.get("text"), str), "text", choice)
    return f"{choice['text'][:40]!r}"


def _accepted(session: Session, messages: list[dict[str, Any]]) -> str:
    (choice, *_) = session.choices(CHAT, messages=messages, max_tokens=8)
    require(bool(CHAT.text(choice)), "an answer with text", choice)
    return f"{CHAT.text(choice)[:40]!r}"


def _require_head(session: Session, surface: Surface, data: Any) -> None:
    require(isinstance(data.get("id"), str) and bool(data["id"]), "an id", f"id: {data.get('id')!r}")
    require(data.get("object") == surface.object, f"object: {surface.object}", f"object: {data.get('object')!r}")
    require(type(data.get("created")) is int, "created as a whole number", f"created: {data.get('created')!r}")
    require(session.is_named(data.get("model")), f"model: {session.settings.model}", f"model: {data.get('model')!r}")
    (choice, *others) = choices_of(data)
    require(not others and choice.get("index") == 0, "one choice with index 0", data["choices"])
    reason = choice.get("finish_reason")
    require(reason in REASONS, f"finish_reason to be one of {', '.join(sorted(REASONS))}", repr(reason))


CHECKS = (chat, completion, client, turns, system, parts, short_prompt)
