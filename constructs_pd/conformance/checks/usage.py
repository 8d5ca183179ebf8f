"""CF6xx: the arithmetic of usage, against itself and, where there is one, a tokenizer."""

from __future__ import annotations

from typing import Final

from constructs_pd.conformance.check import check
from constructs_pd.conformance.outcome import NotSupportedError, require
from constructs_pd.conformance.session import PROMPT, Session, choices_of, usage_of
from constructs_pd.conformance.surface import COMPLETIONS, Surface
from constructs_pd.conformance.tokenizer import token_counter

USAGE: Final = "CompletionUsage"
FEW_TOKENS: Final = 8
# Token ids that any vocabulary has, and that mark nothing in the usual ones.
TOKEN_IDS: Final = (40, 41, 42, 43, 44, 45, 46)


@check("CF601", "total_tokens is prompt_tokens and completion_tokens together", USAGE)
def total(session: Session) -> str:
    """Add."""
    for surface in session.surfaces:
        usage = usage_of(session.answer(surface))
        added = usage["prompt_tokens"] + usage["completion_tokens"]
        require(usage["total_tokens"] == added, f"total_tokens: {added}", f"{surface.name}: {usage}")
    return "added up"


@check("CF602", "completion_tokens is max_tokens where max_tokens ended the answer", USAGE)
def completion_tokens(session: Session) -> str:
    """Compare."""
    for surface in session.surfaces:
        data = session.ask(surface, max_tokens=FEW_TOKENS).require_data()
        if choices_of(data)[0].get("finish_reason") != "length":
            raise NotSupportedError(f"{surface.name}: max_tokens did not end the answer")
        found = usage_of(data)["completion_tokens"]
        require(found == FEW_TOKENS, f"completion_tokens: {FEW_TOKENS}", f"{surface.name}: {found}")
    return f"{FEW_TOKENS}"


@check("CF603", "A stream's usage is that of the answer in one piece", USAGE)
def streamed(session: Session) -> str:
    """Compare."""
    for surface in session.surfaces:
        session.text(surface)
        whole = usage_of(session.answer(surface))
        chunks = session.stream_with_usage(surface).chunks
        found = [usage_of(chunk) for chunk in chunks if chunk.get("usage") is not None]
        if not found:
            raise NotSupportedError(f"{surface.name}: the stream has no usage (CF307)")
        require(found[-1] == whole, str(whole), f"{surface.name}: {found[-1]}")
    return "the same"


@check("CF604", "A prompt of token ids has as many prompt_tokens", "CreateCompletionRequest.prompt")
def token_ids(session: Session) -> str:
    """Send token ids, which no tokenizer changes."""
    surface = session.offered(COMPLETIONS)
    answer = session.ask(surface, prompt=list(TOKEN_IDS), max_tokens=1).require_supported()
    found = usage_of(answer.require_data())["prompt_tokens"]
    require(found == len(TOKEN_IDS), f"prompt_tokens: {len(TOKEN_IDS)}", f"prompt_tokens: {found}")
    return f"{found}"


@check("CF605", "Each repetition of a word adds the same number of prompt_tokens", USAGE)
def additive(session: Session) -> str:
    """Send a word 20, 40 and 60 times."""
    for surface in session.surfaces:
        counts = [_prompt_tokens(session, surface, " hello" * times) for times in (20, 40, 60)]
        steps = [counts[1] - counts[0], counts[2] - counts[1]]
        require(steps[0] == steps[1] and steps[0] > 0, "two equal steps", f"{surface.name}: {counts}")
    return "equal steps"


@check("CF606", "With n: 2 the tokens of both choices are counted, and the prompt once", USAGE)
def of_two_choices(session: Session) -> str:
    """Compare with one choice."""
    for surface in session.surfaces:
        one = usage_of(session.ask(surface, max_tokens=FEW_TOKENS).require_data())
        answer = session.ask(surface, max_tokens=FEW_TOKENS, n=2, temperature=1, seed=1).require_supported()
        data = answer.require_data()
        choices = choices_of(data)
        if len(choices) != 2 or any(choice.get("finish_reason") != "length" for choice in choices):
            raise NotSupportedError(f"{surface.name}: not two choices that max_tokens ended")
        two, expected = usage_of(data), 2 * FEW_TOKENS
        right = (two["completion_tokens"], two["prompt_tokens"]) == (expected, one["prompt_tokens"])
        wanted = f"completion_tokens: {expected}, prompt_tokens: {one['prompt_tokens']}"
        require(right, wanted, f"{surface.name}: {two}")
    return "both"


@check("CF607", "prompt_tokens is what the endpoint's own /tokenize counts", "vLLM's POST /tokenize")
def tokenize(session: Session) -> str:
    """Ask beside the API: OpenAI has no such path."""
    surface = session.offered(COMPLETIONS)
    answer = session.endpoint.outside("/tokenize", {"model": session.settings.model, "prompt": PROMPT})
    counted = answer.data.get("count") if answer.status == 200 and isinstance(answer.data, dict) else None
    if type(counted) is not int:
        raise NotSupportedError(f"there is no /tokenize: {answer.shown}")
    found = usage_of(session.answer(surface))["prompt_tokens"]
    require(found == counted, f"prompt_tokens: {counted}", f"prompt_tokens: {found}")
    return f"{found}"


@check("CF608", "prompt_tokens is what the model's tokenizer counts", "the tokenizer.json that --tokenizer names")
def tokenizer(session: Session) -> str:
    """Count with the tokenizers library, where a file is given and the library is installed."""
    path = session.settings.tokenizer
    if path is None:
        raise NotSupportedError("no --tokenizer was given")
    surface = session.offered(COMPLETIONS)
    count = token_counter(path)
    if count is None:
        raise NotSupportedError("the tokenizers library is not installed: pip install tokenizers")
    counted = count(PROMPT)
    found = usage_of(session.answer(surface))["prompt_tokens"]
    require(found == counted, f"prompt_tokens: {counted}", f"prompt_tokens: {found}")
    return f"{found}"


def _prompt_tokens(session: Session, surface: Surface, prompt: str) -> int:
    return usage_of(session.ask(surface, prompt, max_tokens=1).require_data())["prompt_tokens"]


CHECKS = (total, completion_tokens, streamed, token_ids, additive, of_two_choices, tokenize, tokenizer)
