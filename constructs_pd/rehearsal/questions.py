"""What is asked of both deployments, with temperature 0, and what they answer.

Prompts are token ids, so that their lengths are exact whatever the tokenizer: shorter than one block of the KV cache
and longer than many. No two of them begin alike, or a prefix cache would stand in for a hand-over.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from constructs_pd.rehearsal.exchange import NoAnswerError, as_json, exchange

ANSWER_TOKENS: Final = 24
PROMPT_TOKENS: Final = (3, 40, 129, 300, 513, 900, 1700)
CHAT: Final = "What is the capital of France? Answer in one short sentence."
# Below these ids lie the special tokens of the tiny model, and all are within its vocabulary.
_FIRST_TOKEN, _TOKENS = 8, 240
_AT_ONCE: Final = 4
_TIMEOUT_SECONDS: Final = 180.0


@dataclass(frozen=True)
class Question:
    """One request.

    Attributes:
        name: What it is, for people.
        path: Where it is sent.
        body: The request.
    """

    name: str
    path: str
    body: dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What came back.

    Attributes:
        text: The text.
        finish_reason: Why it ends.
        prompt_tokens: Tokens of the prompt.
        completion_tokens: Tokens of the answer.
        error: What came instead of an answer.
    """

    text: str = ""
    finish_reason: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    error: str | None = None


def questions(model: str, context_tokens: int, turn: int = 0) -> tuple[Question, ...]:
    """Return the questions of a turn; each turn has others."""
    found = [
        completion(model, f"{length} tokens, turn {turn}", length, turn * len(PROMPT_TOKENS) + index, ANSWER_TOKENS)
        for index, length in enumerate(PROMPT_TOKENS)
        if length + ANSWER_TOKENS <= context_tokens
    ]
    chat = {**_common(model, ANSWER_TOKENS), "messages": [{"role": "user", "content": f"{turn}. {CHAT}"}]}
    return (*found, Question(f"chat, turn {turn}", "/v1/chat/completions", chat))


def completion(model: str, name: str, prompt_tokens: int, number: int, answer_tokens: int) -> Question:
    """Return a question of the given lengths, in tokens; each number has another prompt."""
    body = {**_common(model, answer_tokens), "prompt": _tokens(prompt_tokens, number)}
    return Question(name, "/v1/completions", body)


def _common(model: str, answer_tokens: int) -> dict[str, Any]:
    return {"model": model, "max_tokens": answer_tokens, "temperature": 0, "ignore_eos": True}


def _tokens(length: int, number: int) -> list[int]:
    """Return a prompt: the number first, then what a linear congruence gives."""
    state, tokens = number + 1, [_FIRST_TOKEN + number % _TOKENS]
    while len(tokens) < length:
        state = (state * 1103515245 + 12345) % 2**31
        tokens.append(_FIRST_TOKEN + (state >> 8) % _TOKENS)
    return tokens


def ask(port: int, asked: Sequence[Question]) -> list[Answer]:
    """Return the answers, in the order of the questions, a few of which are asked at once."""
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        return list(pool.map(lambda question: _ask(port, question), asked))
    finally:
        # All are over, or Ctrl-C came: then nobody waits for answers, whose connections end with Ray.
        pool.shutdown(wait=False, cancel_futures=True)


def _ask(port: int, question: Question) -> Answer:
    try:
        answer = exchange(port, "POST", question.path, question.body, timeout_seconds=_TIMEOUT_SECONDS)
        return answer_of(as_json(*answer))
    except NoAnswerError as error:
        return Answer(error=str(error))


def answer_of(body: dict[str, Any]) -> Answer:
    """Return an answer from OpenAI's form of it."""
    choice, usage = body["choices"][0], body["usage"]
    text = choice["message"]["content"] if "message" in choice else choice["text"]
    return Answer(text or "", choice["finish_reason"], usage["prompt_tokens"], usage["completion_tokens"])
