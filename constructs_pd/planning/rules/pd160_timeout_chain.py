"""PD160: each time limit outlasts the one that it must outlast."""

from collections.abc import Iterator
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.balancer import has_keys
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.timeouts import DRAIN, GENERATION, IDLE, Link, chain, timeouts_plan

# What the specification accepts in the fields, in seconds.
MOST: Final = {IDLE: 4000, DRAIN: 3600}


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each two links of the chain that end in the wrong order."""
    for link in links(facts):
        if link.missing_seconds > 0:
            yield Violation(
                link.outer.field,
                f"{link.outer.name}, has {link.outer.seconds} s ({link.outer.field}), {link.inner.name}, has "
                f"{link.inner.seconds} s ({link.inner.field}): the first needs {link.needed_seconds} s or more",
                _remedy(facts, link),
            )


def links(facts: Facts) -> tuple[Link, ...]:
    """Return the links that the deployment has: without a balancer or a gateway nothing waits in between."""
    endpoint = facts.spec.endpoint
    found = chain(timeouts_plan(facts.spec))
    if endpoint.exposure != "cluster" or has_keys(endpoint):
        return found
    return tuple(link for link in found if IDLE not in (link.inner.field, link.outer.field))


def _remedy(facts: Facts, link: Link) -> str:
    stated = {IDLE: facts.spec.endpoint.idle_timeout_seconds, DRAIN: facts.spec.drain_seconds}[link.outer.field] or 0
    needed = stated + link.missing_seconds
    shorter = facts.spec.endpoint.longest_generation_seconds - link.missing_seconds
    ways = [f"raise {link.outer.field} to {needed}, or leave it out"] if needed <= MOST[link.outer.field] else []
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
