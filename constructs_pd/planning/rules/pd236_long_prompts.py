"""PD236: almost all of the stated requests fit the context."""

from collections.abc import Iterator
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.fit import context_tokens
from constructs_pd.planning.performance.engines import requests_of
from constructs_pd.planning.rules.rule import Rule, Violation

# A share of the requests that clients notice.
NOTICED: Final = 0.01


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation where the lengths vary so much that many requests are refused."""
    traffic, context = facts.spec.traffic, context_tokens(facts)
    if traffic is None or context is None or traffic.prompt_tokens >= context:
        return  # PD229 refuses a mean prompt that does not fit
    requests = requests_of(traffic, context)
    if requests is None or requests.refused_share < NOTICED:
        return
    yield Violation(
        "traffic.prompt_tokens",
        f"{requests.refused_share:.1%} of the requests do not fit: prompts of {traffic.prompt_tokens:,} tokens on "
        f"average vary by {traffic.prompt_variation:g} of it, and a context of {context:,} has room for "
        f"{requests.longest_prompt:,.0f} beside an answer of {traffic.output_tokens:,}",
        "raise model.max_model_len, or state traffic.prompt_variation as it was measured",
    )


RULE = Rule(
    code="PD236",
    severity=Severity.WARNING,
    title="Almost all of the stated requests fit the context",
    rationale="vLLM refuses the others. They are reckoned with as if they came again, shortened to what fits.",
    source="vLLM 0.26.0 v1/engine/input_processor.py; docs/performance.md",
    check=check,
    arithmetic="the share = 1 - F(max_model_len - output_tokens), F log-normal with the mean prompt_tokens and "
    "prompt_variation; a warning from 1 % on",
)
