"""CF9xx: whether the KV cache that prefill hands over reaches decode whole."""

from __future__ import annotations

from typing import Final
from uuid import uuid4

from constructs_pd.conformance.canary import PROMPTS, altered, answer_of, compare
from constructs_pd.conformance.check import check
from constructs_pd.conformance.metrics import BYTES, grown_bytes, transferred_bytes
from constructs_pd.conformance.outcome import CheckFailedError, NotSupportedError, require
from constructs_pd.conformance.session import Session

SOURCE: Final = "vllm-project/vllm#52234, #52617: a failed hand-over may be answered with 200 and wrong tokens"


@check("CF901", "Long prompts are answered as the reference answers them", SOURCE)
def reference(session: Session) -> str:
    """Compare every canary's answer with a reference endpoint's or with a stored one."""
    if session.reference is None:
        raise NotSupportedError("neither --reference-url nor --answers was given")
    prompts, tokens = 0, 0
    for name, prompt in PROMPTS.items():
        right, found = session.reference.answer(name), answer_of(session, prompt)
        if right is None or found is None:
            continue
        comparison = compare(right, found)
        if comparison.expected is not None:
            raise CheckFailedError(f"{name}: {comparison.expected}", comparison.actual)
        prompts, tokens = prompts + 1, tokens + comparison.tokens
    if tokens == 0:
        raise NotSupportedError("no token could be compared: the contexts are too short, or rounding decides at once")
    return f"{prompts} prompts, {tokens} tokens as {session.reference.name} answers them"


@check("CF902", "The begin, the middle and the end of a long prompt have an effect on its answer", SOURCE)
def influence(session: Session) -> str:
    """Exchange two lines of a long prompt: an answer that stays the same to the last digit never saw them.

    It needs no reference, and finds only a hand-over that is lost as a whole.
    """
    answers = {prompt: answer for prompt in PROMPTS.values() if (answer := answer_of(session, prompt)) is not None}
    if not answers:
        raise NotSupportedError("the model's context is too short for every prompt")
    prompt, before = list(answers.items())[-1]
    if before.logprobs is None:
        raise NotSupportedError("without log probabilities an effect cannot be told from none")
    unseen = [place for place, other in altered(prompt).items() if answer_of(session, other) == before]
    if unseen:
        raise CheckFailedError("another answer after each change", f"no effect of a change at {', '.join(unseen)}")
    return "all of them"


@check(
    "CF903",
    "Decode counts the bytes of a KV cache that it received for a long prompt",
    f"vllm:{BYTES}, vLLM 0.26.0 distributed/kv_transfer/kv_connector/v1/nixl/stats.py",
)
def transfer(session: Session) -> str:
    """Ask long prompts that no cache holds: without a hand-over decode computes them again, and answers as well.

    They begin with what nobody asked before, since an endpoint may not know the salt.
    """
    before = transferred_bytes(session)
    unseen = (f"{uuid4().hex}\n{prompt}" for prompt in PROMPTS.values())
    answered = [prompt for prompt in unseen if answer_of(session, prompt) is not None]
    if not answered:
        raise NotSupportedError("the model's context is too short for every prompt")
    grown = grown_bytes(session, before)
    received = sum(before.values())
    expected = f"{BYTES} above {received:.0f}"
    if grown is None:
        seen = f"after {len(answered)} prompts no {BYTES}: it is no decode engine's page, or no NIXL is used"
        raise CheckFailedError(expected, seen)
    require(grown > 0, expected, f"{received + grown:.0f} after {len(answered)} prompts")
    return f"{grown:.0f} bytes for {len(answered)} prompts"


CHECKS = (reference, influence, transfer)
