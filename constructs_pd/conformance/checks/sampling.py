"""CF5xx: several choices, log probabilities, seeds."""

from __future__ import annotations

from typing import Any, Final

from constructs_pd.conformance.check import check
from constructs_pd.conformance.outcome import CheckFailedError, NotSupportedError, is_logprob, require
from constructs_pd.conformance.session import Session, choices_of, streamed_choices, usage_of
from constructs_pd.conformance.surface import CHAT, COMPLETIONS

TOP: Final = 3
FEW_TOKENS: Final = 8
TOKEN_LOGPROB: Final = "ChatCompletionTokenLogprob"


@check("CF501", "n: 2 gives two choices with index 0 and 1", "CreateChatCompletionRequest.n")
def two_choices(session: Session) -> str:
    """Ask for two."""
    for surface in session.surfaces:
        answer = session.ask(surface, n=2, temperature=1, seed=1, max_tokens=FEW_TOKENS).require_supported()
        indices = [choice.get("index") for choice in choices_of(answer.require_data())]
        require(sorted(map(str, indices)) == ["0", "1"], "choices 0 and 1", f"{surface.name}: choices {indices}")
    return "0 and 1"


@check("CF502", "logprobs: true gives every token of a chat answer its log probability", TOKEN_LOGPROB)
def chat_logprobs(session: Session) -> str:
    """Count them, and look at each."""
    data = session.ask(CHAT, logprobs=True, max_tokens=FEW_TOKENS).require_supported().require_data()
    return _tokens(_content(choices_of(data)[0]), usage_of(data)["completion_tokens"])


@check("CF503", "top_logprobs gives so many alternatives for each token, the likeliest first", TOKEN_LOGPROB)
def top_logprobs(session: Session) -> str:
    """Ask for three."""
    answer = session.ask(CHAT, logprobs=True, top_logprobs=TOP, max_tokens=FEW_TOKENS).require_supported()
    for token in _content(choices_of(answer.require_data())[0]):
        top = token.get("top_logprobs")
        require(isinstance(top, list) and len(top) == TOP, f"{TOP} alternatives", token)
        values = [alternative.get("logprob") for alternative in top]
        require(values == sorted(values, reverse=True), "the likeliest first", values)
    return f"{TOP} for each token"


@check("CF504", "A chat stream has the log probabilities of all its tokens", TOKEN_LOGPROB)
def streamed_logprobs(session: Session) -> str:
    """Count them over all chunks."""
    answer = session.ask(CHAT, logprobs=True, max_tokens=FEW_TOKENS, stream=True).require_supported()
    choices = streamed_choices(answer)
    if not any(choice.get("finish_reason") == "length" for choice in choices):
        raise NotSupportedError("max_tokens did not end the answer, so its tokens are not known")
    tokens = [token for choice in choices if choice.get("logprobs") for token in _content(choice)]
    bare = sum(1 for choice in choices if CHAT.delta(choice) and not choice.get("logprobs"))
    expected = f"log probabilities of {FEW_TOKENS} tokens"
    require(bare == 0, expected, f"of {len(tokens)}, and none with {bare} chunks of text")
    return _tokens(tokens, FEW_TOKENS)


@check("CF505", "logprobs gives every token of a completion its log probability", "CreateCompletionResponse.logprobs")
def completion_logprobs(session: Session) -> str:
    """Count tokens, log probabilities and alternatives."""
    answer = session.ask(session.offered(COMPLETIONS), logprobs=TOP, max_tokens=FEW_TOKENS).require_supported()
    data = answer.require_data()
    found = choices_of(data)[0].get("logprobs")
    require(isinstance(found, dict), "logprobs", found)
    count = usage_of(data)["completion_tokens"]
    for name in ("tokens", "token_logprobs", "top_logprobs", "text_offset"):
        listed = found.get(name)
        require(isinstance(listed, list) and len(listed) == count, f"{count} {name}", f"{name}: {listed!r}")
    logprobs = found["token_logprobs"]
    require(all(map(is_logprob, logprobs)), "finite log probabilities of at most 0", f"token_logprobs: {logprobs!r}")
    return f"{count} tokens"


@check("CF506", "One seed gives one answer, also at temperature 1", "CreateChatCompletionRequest.seed")
def seed(session: Session) -> str:
    """Ask twice with each of two seeds; one difference is forgiven, since it is a best effort."""
    pairs = [[_drawn(session, number) for _ in range(2)] for number in (1, 2)]
    same = [one == other for one, other in pairs]
    if not any(same):
        raise CheckFailedError("the same answer twice with a seed", " and ".join(map(repr, pairs[0])))
    return "the same answer" if all(same) else "the same answer with one seed of two"


def _drawn(session: Session, number: int) -> str:
    answer = session.ask(CHAT, seed=number, temperature=1, max_tokens=FEW_TOKENS).require_supported()
    return CHAT.text(choices_of(answer.require_data())[0])


def _content(choice: Any) -> list[Any]:
    logprobs = choice.get("logprobs")
    if logprobs is None:
        raise CheckFailedError("logprobs", "logprobs: None")
    content = logprobs.get("content")
    require(isinstance(content, list), "logprobs.content as a list", logprobs)
    return list(content)


def _tokens(tokens: list[Any], count: int) -> str:
    require(len(tokens) == count, f"log probabilities of {count} tokens", f"of {len(tokens)}")
    for token in tokens:
        require(
            {"token", "logprob", "bytes", "top_logprobs"} <= token.keys(), "token, logprob, bytes, top_logprobs", token
        )
        require(is_logprob(token["logprob"]), "a finite logprob of at most 0", token)
    return f"{count} tokens"


CHECKS = (two_choices, chat_logprobs, top_logprobs, streamed_logprobs, completion_logprobs, seed)
