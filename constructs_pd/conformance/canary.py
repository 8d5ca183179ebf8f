"""The corruption canary: greedy answers to prompts that fill many blocks of the KV cache.

A hand-over that loses blocks may be answered with status 200 all the same, by other tokens. Two endpoints
with the same weights answer the same greedily, but for a token whose rivals are as likely: there, rounding decides,
and the rest of the answer is not compared.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal
from uuid import uuid4

from pydantic import BaseModel, ConfigDict

from constructs_pd.conformance.endpoint import read_json
from constructs_pd.conformance.outcome import CheckFailedError, is_logprob, require
from constructs_pd.conformance.problems import OPTION, EndpointError, short
from constructs_pd.conformance.session import Session, choices_of
from constructs_pd.conformance.surface import CHAT, COMPLETIONS

TOKENS: Final = 24
# Two tokens nearer than this are a matter of rounding. Of 16-bit weights the same token's own log probability moves by
# hundredths from one batch to another; a lost block moves it by more than this.
NEAR: Final = 0.5
FORMAT: Final = 1
# How vLLM refuses a prompt that is too long and servers refuse fields that they do not know.
REFUSED: Final = {400, 422}
_WORDS: Final = (
    *("amber", "bridge", "copper", "delta", "ember", "forest", "garnet", "harbour", "indigo", "juniper", "kettle"),
    *("lantern", "marble", "nectar", "orchard", "pepper", "quartz", "ribbon", "saddle", "timber", "umbrella"),
    *("velvet", "willow", "yellow", "zephyr", "anchor", "beacon", "cedar", "dahlia", "engine", "falcon"),
)


@dataclass(frozen=True, slots=True)
class CanaryAnswer:
    """A greedy answer.

    Attributes:
        text: What was said.
        tokens: The same in tokens, None where the endpoint does not tell log probabilities.
        logprobs: Each token's log probability.
        margins: By how much each token was likelier than the next one, None where that is not told.

    Raises:
        ValueError: Only some of these are there, or they are of different lengths.
    """

    text: str
    tokens: tuple[str, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    margins: tuple[float | None, ...] | None = None

    def __post_init__(self) -> None:
        lengths = [None if each is None else len(each) for each in (self.tokens, self.logprobs, self.margins)]
        if len(set(lengths)) > 1 or lengths[0] == 0:
            raise ValueError(f"as many tokens as log probabilities and margins, or none, not {lengths}")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Where two answers part, if they do, and how many tokens were compared before.

    Attributes:
        tokens: How many tokens agree.
        expected: What the right answer says where they part, None where they do not.
        actual: What the other says there.
    """

    tokens: int
    expected: str | None = None
    actual: str = ""


class _Stored(BaseModel):
    """A file of answers."""

    # An infinite number is near to every other.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    format: Literal[1]
    model: str
    prompts: dict[str, str]
    answers: dict[str, CanaryAnswer | None]


@dataclass(frozen=True)
class Reference:
    """Where the right answers come from: stored ones, or another endpoint."""

    name: str
    stored: Mapping[str, CanaryAnswer | None] | None = None
    session: Session | None = None

    def answer(self, name: str) -> CanaryAnswer | None:
        """Return the right answer to a canary, None where its context is too short for the prompt."""
        if self.session is not None:
            return answer_of(self.session, PROMPTS[name])
        return (self.stored or {})[name]


def _prompt(lines: int, step: int) -> str:
    """Return a ledger of so many lines, no two of them alike, and a question about its begin."""
    numbered = (
        f"Line {line}: the {_WORDS[line * step % len(_WORDS)]} is worth {line * step * 37 % 911}."
        for line in range(1, lines + 1)
    )
    return "Here is a ledger.\n" + "\n".join(numbered) + "\nThe first three lines of the ledger say again:\nLine 1: the"


# A line is about a block of 16 tokens, or less. Prompts that exceed a model's context are left out.
PROMPTS: Final = {
    "ledger of 10 lines": _prompt(10, 7),
    "ledger of 40 lines": _prompt(40, 11),
    "ledger of 120 lines": _prompt(120, 13),
    "ledger of 400 lines": _prompt(400, 17),
}


def altered(prompt: str) -> dict[str, str]:
    """Return the prompt with two lines exchanged at its begin, in its middle and near its end: as long as before."""
    lines = prompt.split("\n")
    places = {"the begin": 1, "the middle": len(lines) // 2, "the end": len(lines) - 4}
    return {place: "\n".join([*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]) for place, at in places.items()}


def answer_of(session: Session, prompt: str) -> CanaryAnswer | None:
    """Return an endpoint's greedy answer, with log probabilities where it tells them; None where it refuses it.

    Raises:
        CheckFailedError: The answer is another error, or has not the form of an answer.
    """
    surface = COMPLETIONS if COMPLETIONS in session.surfaces else CHAT
    logprobs = {"logprobs": 2} if surface is COMPLETIONS else {}
    # vLLM's own field: blocks that decode still has of an earlier run would hide those that are lost in this one.
    salt = {"cache_salt": uuid4().hex}
    for options in ({**logprobs, **salt}, logprobs, {}):
        answer = session.ask(surface, prompt, max_tokens=TOKENS, **options)
        if answer.status not in REFUSED:
            (choice, *_) = choices_of(answer.require_data())
            return _of_completion(choice) if surface is COMPLETIONS else CanaryAnswer(CHAT.text(choice))
    return None


def compare(right: CanaryAnswer, found: CanaryAnswer) -> Comparison:
    """Return where two answers differ by more than rounding."""
    if right.tokens is None or right.logprobs is None or right.margins is None or found.logprobs is None:
        length = len(right.text.split())
        return Comparison(length) if right.text == found.text else Comparison(0, repr(right.text), repr(found.text))
    pairs = zip(right.tokens, right.logprobs, right.margins, found.tokens or (), found.logprobs, strict=False)
    for index, (token, logprob, margin, found_token, found_logprob) in enumerate(pairs):
        expected = f"token {index} {token!r} with log probability {logprob:.3f}"
        actual = f"{found_token!r} with {found_logprob:.3f}"
        # Where it is not told how far the next token was behind, rounding excuses nothing.
        if abs(logprob - found_logprob) > NEAR or (token != found_token and (margin is None or margin > NEAR)):
            return Comparison(index, expected, actual)
        if token != found_token:
            return Comparison(index)
    if len(right.tokens) != len(found.tokens or ()):
        return Comparison(len(right.tokens), f"{len(right.tokens)} tokens", f"{len(found.tokens or ())}")
    return Comparison(len(right.tokens))


def read_answers(path: Path, model: str) -> dict[str, CanaryAnswer | None]:
    """Return stored answers of a model.

    Raises:
        EndpointError: The file is missing, or is another one, or another model's.
    """
    try:
        stored = _Stored.model_validate(read_json(path.read_bytes()))
    except (OSError, RecursionError, ValueError) as error:
        message = f"{path} cannot be read: {short(str(error))}"
        raise EndpointError(OPTION, "--answers", message, "name a file that --store-answers wrote") from None
    if stored.prompts != PROMPTS or stored.answers.keys() != PROMPTS.keys():
        raise EndpointError(OPTION, "--answers", f"{path} holds the answers to other prompts", "store them anew")
    if stored.model != model:
        message = f"{path} holds the answers of {stored.model!r}, not of {model!r}"
        remedy = f"store this model's, or say with --reference-model {stored.model} that it is the same"
        raise EndpointError(OPTION, "--answers", message, remedy)
    return stored.answers


def write_answers(session: Session, path: Path) -> None:
    """Store an endpoint's answers: those of a plain engine, for comparison with others later.

    Raises:
        EndpointError: The endpoint does not answer, or the file cannot be written.
    """
    try:
        found = {name: answer_of(session, prompt) for name, prompt in PROMPTS.items()}
    except CheckFailedError as error:
        message = f"no answer to store: {short(str(error))}"
        raise EndpointError(OPTION, "--store-answers", message, "run the checks over the endpoint first") from None
    answers = {name: None if answer is None else asdict(answer) for name, answer in found.items()}
    data = {"format": FORMAT, "model": session.settings.model, "prompts": PROMPTS, "answers": answers}
    try:
        # In ASCII: an answer that is cut within a character may end in half a surrogate pair, which UTF-8 cannot hold.
        path.write_text(json.dumps(data, indent=1) + "\n", encoding="ascii")
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror}"
        raise EndpointError(OPTION, "--store-answers", message, "name a file in a folder that exists") from None


def _of_completion(choice: Any) -> CanaryAnswer:
    text, found = COMPLETIONS.text(choice), choice.get("logprobs")
    if not isinstance(found, dict) or not found.get("tokens"):
        return CanaryAnswer(text)
    tokens: Any = found["tokens"]
    logprobs: Any = found.get("token_logprobs")
    tops: Any = found.get("top_logprobs")
    text_only = isinstance(tokens, list) and all(isinstance(token, str) for token in tokens)
    require(text_only, "tokens that are text", f"tokens: {tokens!r}")
    count = len(tokens)
    told = isinstance(logprobs, list) and len(logprobs) == count and all(map(is_logprob, logprobs))
    require(told, f"{count} log probabilities", f"token_logprobs: {logprobs!r}")
    if tops is None:
        tops = [None] * count
    require(isinstance(tops, list) and len(tops) == count, f"{count} top_logprobs", f"top_logprobs: {tops!r}")
    margins = tuple(map(_margin, tops))
    return CanaryAnswer(text, tuple(tokens), tuple(map(float, logprobs)), margins)


def _margin(top: Any) -> float | None:
    """Return how far the next token was behind, None where that is not told."""
    if top is None:
        return None
    right = isinstance(top, dict) and all(map(is_logprob, top.values()))
    require(right, "top_logprobs that are tokens with log probabilities", f"top_logprobs: {top!r}")
    values = sorted(map(float, top.values()), reverse=True)
    return values[0] - values[1] if len(values) > 1 else None
