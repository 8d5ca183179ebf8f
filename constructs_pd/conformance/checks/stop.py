"""CF41x: stop sequences, taken from the model's own answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from constructs_pd.conformance.check import check
from constructs_pd.conformance.outcome import NotSupportedError, require
from constructs_pd.conformance.session import PROMPT, Session, streamed_choices, streamed_text
from constructs_pd.conformance.surface import Surface

SOURCE: Final = "StopConfiguration"
NEVER: Final = "\u2603\u2603 never said \u2603\u2603"
LENGTH: Final = 4
FEW_TOKENS: Final = 4
BEGINNINGS: Final = ("The quick", "Paris", "x y z", "What is", "Hello")


@dataclass(frozen=True)
class Cut:
    """A sequence that the greedy answer contains, and what comes before it."""

    sequence: str
    before: str


@check("CF411", "A stop sequence ends the answer before it", SOURCE)
def one(session: Session) -> str:
    """Stop at a part of the answer."""
    found = []
    for surface in session.surfaces:
        cut = _cut(session, surface)
        _require_cut(surface.name, cut, surface.text(session.choices(surface, stop=cut.sequence)[0]))
        found.append(f"{surface.name}: {cut.sequence!r}")
    return ", ".join(found)


@check("CF412", "finish_reason is stop where a stop sequence ended the answer", "CreateChatCompletionResponse")
def reason(session: Session) -> str:
    """Look at the reason."""
    for surface in session.surfaces:
        cut = _cut(session, surface)
        found = session.choices(surface, stop=cut.sequence)[0].get("finish_reason")
        require(found == "stop", "finish_reason: stop", f"{surface.name}: {found!r}")
    return "stop"


@check("CF413", "Of several stop sequences the first to be said ends the answer", SOURCE)
def several(session: Session) -> str:
    """Stop at two parts of the answer, named in either order, and at one that is never said."""
    found = []
    for surface in session.surfaces:
        cut, later = _two_cuts(session, surface)
        for stop in ([cut.sequence, later, NEVER], [NEVER, later, cut.sequence]):
            _require_cut(surface.name, cut, surface.text(session.choices(surface, stop=stop)[0]))
        found.append(f"{surface.name}: {cut.sequence!r} before {later!r}")
    return ", ".join(found)


@check("CF414", "A stop sequence that begins in one token and ends in another ends the answer", SOURCE)
def across_tokens(session: Session) -> str:
    """Stop at the end of one chunk and the begin of the next."""
    found = []
    for surface in session.surfaces:
        cut = _cut_across(session, surface)
        _require_cut(surface.name, cut, surface.text(session.choices(surface, stop=[cut.sequence])[0]))
        found.append(f"{surface.name}: {cut.sequence!r}")
    return ", ".join(found)


@check("CF415", "A stop sequence is not sent by a stream either, and ends it for reason stop", SOURCE)
def streamed(session: Session) -> str:
    """Do the same in a stream: what may become a stop sequence must be held back."""
    for surface in session.surfaces:
        cut = _cut_across(session, surface)
        answer = session.ask(surface, stop=cut.sequence, stream=True)
        _require_cut(surface.name, cut, streamed_text(surface, answer))
        reasons = [choice["finish_reason"] for choice in streamed_choices(answer) if choice.get("finish_reason")]
        require(reasons == ["stop"], "finish_reason: stop", f"{surface.name}: {reasons}")
    return "held back"


@check("CF416", "A stop sequence that is never said changes nothing", SOURCE)
def never(session: Session) -> str:
    """Compare with the answer without it."""
    for surface in session.surfaces:
        text = session.text(surface)
        found = surface.text(session.choices(surface, stop=NEVER)[0])
        require(found == text, repr(text[-40:]), f"{surface.name}: {found[-40:]!r}")
    return "nothing changed"


@check("CF417", "A stop sequence that the first token completes gives an empty answer", SOURCE)
def first_token(session: Session) -> str:
    """Stop at the first chunk's text: a prefill engine generates that token, too, and stops for another reason."""
    for surface in session.surfaces:
        session.text(surface)
        prompt, first = _first_token(session, surface)
        choice = session.choices(surface, prompt, stop=[first])[0]
        require(surface.text(choice) == "", "no text", f"{surface.name}: {surface.text(choice)[:40]!r}")
        require(choice.get("finish_reason") == "stop", "finish_reason: stop", f"{surface.name}: {choice}")
    return "empty"


def _require_cut(name: str, cut: Cut, text: str) -> None:
    expected = f"the answer up to {cut.sequence!r}, {cut.before[-20:]!r}"
    require(text == cut.before, expected, f"{name}: {text[-40:]!r}, {len(text)} characters for {len(cut.before)}")


def _cut(session: Session, surface: Surface) -> Cut:
    text = session.text(surface)
    middle = len(text) // 2
    parts = [text[at : at + LENGTH] for at in range(middle, len(text) - LENGTH)]
    # Letters first: they are mostly of one token, which is the simple case.
    return _first_of(text, [*filter(str.isalpha, parts), *parts])


def _two_cuts(session: Session, surface: Surface) -> tuple[Cut, str]:
    """Return a sequence that the answer contains, and one that it says for the first time only after it."""
    text = session.text(surface)
    parts = [(at, text[at : at + LENGTH]) for at in range(1, len(text) - LENGTH + 1)]
    firsts = [(at, part) for at, part in parts if text.find(part) == at and "\ufffd" not in part]
    # Letters first, as above.
    for candidates in ([(at, part) for at, part in firsts if part.isalpha()], firsts):
        for at, part in (*candidates[len(candidates) // 2 :], *candidates):
            later = [sequence for place, sequence in candidates if place >= at + LENGTH]
            if later:
                return Cut(part, text[:at]), later[-1]
    raise NotSupportedError(f"{surface.name}: the answer has no two parts to stop at")


def _cut_across(session: Session, surface: Surface) -> Cut:
    """Return a sequence whose first place in the answer reaches from one chunk into the next."""
    text = session.text(surface)
    deltas = [surface.delta(choice) for choice in streamed_choices(session.stream(surface))]
    if "".join(deltas) != text:
        raise NotSupportedError(f"{surface.name}: the stream says something else (CF306), so its tokens are unknown")
    boundaries, at = [], 0
    for delta in deltas:
        at += len(delta)
        boundaries.append(at)
    half = LENGTH // 2
    around = [at for at in boundaries if half < at < len(text) - half]
    whole = (text[at - half : at + half] for at in around if text.find(text[at - half : at + half]) == at - half)
    return _first_of(text, whole)


def _first_token(session: Session, surface: Surface) -> tuple[str, str]:
    """Return a prompt and the text of its answer's first token; a token of a part of a character has none."""
    for prompt in (PROMPT, *BEGINNINGS):
        first, again = (_begin(session, surface, prompt) for _ in range(2))
        if first and first == again and "\ufffd" not in first:
            return prompt, first
    raise NotSupportedError(f"{surface.name}: no answer begins with a text to stop at")


def _begin(session: Session, surface: Surface, prompt: str) -> str:
    chunks = streamed_choices(session.ask(surface, prompt, max_tokens=FEW_TOKENS, stream=True))
    return next(filter(None, map(surface.delta, chunks)), "")


def _first_of(text: str, sequences: Iterable[str]) -> Cut:
    for sequence in sequences:
        at = text.find(sequence)
        # Some tokenizers hold only a part of a character, which is shown as U+FFFD.
        if at > 0 and len(sequence) == LENGTH and "\ufffd" not in sequence:
            return Cut(sequence, text[:at])
    raise NotSupportedError("the model's answer has no part to stop at")


CHECKS = (one, reason, several, across_tokens, streamed, never, first_token)
