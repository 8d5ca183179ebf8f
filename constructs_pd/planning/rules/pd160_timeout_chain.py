"""PD160: each time limit outlasts the one that it must outlast."""

from collections.abc import Iterator
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.balancer import has_keys
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.timeouts import DRAIN, GENERATION, IDLE, Link, Part, chain, timeouts_plan

# What the specification accepts in the fields, in seconds.
MOST: Final = {IDLE: 4000, DRAIN: 3600}


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each field that lets two links of the chain end in the wrong order.

    Of several such pairs it names the one that lacks most: what is long enough for that one is for the others.
    """
    for field in (IDLE, DRAIN):
        pairs = [link for link in links(facts) if link.outer.field == field]
        worst = max(pairs, key=lambda link: link.missing_seconds, default=None)
        if worst is not None and worst.missing_seconds > 0:
            yield Violation(
                field,
                f"{worst.outer.name}, has {worst.outer.seconds} s ({field}), {worst.inner.name}, has "
                f"{worst.inner.seconds} s ({worst.inner.field}): the first needs {worst.needed_seconds} s or more",
                _remedy(facts, field, worst.missing_seconds),
            )


def links(facts: Facts) -> tuple[Link, ...]:
    """Return the links that the deployment has: without a balancer or a gateway nothing waits in between."""
    endpoint = facts.spec.endpoint
    parts: set[Part] = {"serve"}
    if endpoint.exposure != "cluster":
        parts.add("balancer")
    if has_keys(endpoint):
        parts.add("gateway")
    return tuple(link for link in chain(timeouts_plan(facts.spec)) if link.parts <= parts)


def _remedy(facts: Facts, field: str, missing_seconds: int) -> str:
    stated = {IDLE: facts.spec.endpoint.idle_timeout_seconds, DRAIN: facts.spec.drain_seconds}[field] or 0
    needed = stated + missing_seconds
    shorter = facts.spec.endpoint.longest_generation_seconds - missing_seconds
    ways = [f"raise {field} to {needed}, or leave it out"] if needed <= MOST[field] else []
    if shorter >= 1:
        ways.append(f"lower {GENERATION} to {shorter}")
    return ", or ".join(ways)


def worked(facts: Facts) -> Iterator[str]:
    """Yield both limits of each link, and the pace that the longest answer needs."""
    for link in links(facts):
        least = f"{link.inner.seconds} s + {link.margin_seconds} s"
        yield f"{link.inner.name}: {least} <= {link.outer.seconds} s: {link.outer.name}"
    seconds = facts.spec.endpoint.longest_generation_seconds
    tokens = facts.spec.model.max_model_len or (facts.model.max_position_embeddings if facts.model else None)
    if tokens:
        pace = seconds * 1000 / tokens
        yield f"an answer of a whole context, {tokens:,} tokens, fits at {pace:,.0f} ms a token or less"


RULE = Rule(
    code="PD160",
    severity=Severity.ERROR,
    title="Each time limit of the endpoint outlasts the one that it must outlast",
    rationale="Where two end in the wrong order, one cuts what the other still allows: a stream breaks, an answer that "
    "is computed never arrives, or a rolling pod drops its requests.",
    source="docs/timeouts.md, which has the source of each link",
    check=check,
    arithmetic="All limits follow from the longest generation. Each is that number plus margins, unless stated; an "
    "outer limit must be the inner one plus its margin at least.",
    worked=worked,
)
