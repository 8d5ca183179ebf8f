"""What is wrong with a workload itself, whichever instance types serve it: said once, under each mistake's own code."""

from __future__ import annotations

from collections.abc import Iterator

from constructs_pd.findings import Finding, Severity, in_order
from constructs_pd.planning.catalog.loader import Catalog
from constructs_pd.planning.codes import TOO_LONG_REQUEST, UNKNOWN_CONFIG, UNSOUND_VALUE, UNUSED_PRICE
from constructs_pd.planning.facts import Facts, gather
from constructs_pd.planning.fit import context_tokens
from constructs_pd.planning.performance.engines import requests_of
from constructs_pd.planning.performance.workload import Workload
from constructs_pd.planning.resolve import examine
from constructs_pd.planning.rules.pd201_instance_type import RULE as INSTANCE_TYPE
from constructs_pd.planning.rules.pd201_instance_type import unknown_type
from constructs_pd.planning.rules.pd311_cache_blocks import whole_blocks_of
from constructs_pd.planning.rules.suggest import near_names


def workload_mistakes(workload: Workload, catalog: Catalog) -> tuple[Finding, ...]:
    """Return every mistake of a workload, in order, each about a field of it."""
    trials = [_trial(workload, catalog, name) for name in workload.instance_types]
    return in_order(
        [
            *_unknown_types(workload, trials[0]),
            *_unused_prices(workload, trials[0]),
            *_unknown_config(workload, trials[0]),
            *_unread_blocks(workload, trials[0]),
            *_of_every_type(trials),
            *_too_long(workload, trials),
        ]
    )


def _trial(workload: Workload, catalog: Catalog, instance_type: str) -> Facts:
    """Return the facts of as many nodes of a type as may be bought, with every row that the workload brings."""
    nodes = instance_type, workload.most_nodes
    spec = workload.deployment(nodes, nodes).model_copy(update={"custom_instances": workload.custom_instances})
    return gather(spec, catalog)


def _unknown_types(workload: Workload, facts: Facts) -> Iterator[Finding]:
    for index, name in enumerate(workload.instance_types):
        for violation in unknown_type(facts, name, f"instance_types.{index}"):
            yield INSTANCE_TYPE.finding(violation)


def _unused_prices(workload: Workload, facts: Facts) -> Iterator[Finding]:
    considered = workload.instance_types
    # Not another misspelled name: PD201 says what that one should be.
    unpriced = [each for each in considered if each in facts.catalog.instances and each not in workload.prices_per_hour]
    for name in workload.prices_per_hour:
        if name not in considered:
            near = near_names(name, unpriced)
            yield UNUSED_PRICE.finding(
                f"prices_per_hour.{name}",
                f"{name!r} is none of the {len(considered)} instance types in instance_types",
                f"{near}; otherwise add it there, or remove it" if near else "add it there, or remove it",
            )


def _unknown_config(workload: Workload, facts: Facts) -> Iterator[Finding]:
    """Yield a finding where a model is known by its sizes alone, or by less."""
    source = workload.model.source
    if facts.model is None or facts.model.facts is not None:  # PD205, or nothing is missing
        return
    rows = [number for number, row in enumerate(workload.custom_models) if row.model == source]
    if facts.model.config is not None:
        state, remedy = "cannot be counted", "measure a deployment of it, or choose a model that can be"
    else:
        state = "is not known"
        remedy = "give it as config" if rows else "give the model in custom_models, with its config"
    yield UNKNOWN_CONFIG.finding(
        f"custom_models.{rows[0]}" if rows else "model.source", f"the config.json of {source} {state}", remedy
    )


def _unread_blocks(workload: Workload, facts: Facts) -> Iterator[Finding]:
    """Yield a finding where the model's attention does not take blocks of the stated size, as PD311 does."""
    block, (multiple, attention) = workload.block_tokens, whole_blocks_of(facts.model)
    if block is not None and block % multiple:
        yield UNSOUND_VALUE.finding(
            "block_tokens",
            f"{block} should be a multiple of {multiple}: {attention} takes no other",
            f"state a multiple of {multiple}",
        )


def _of_every_type(trials: list[Facts]) -> Iterator[Finding]:
    """Yield the errors of a workload's own fields that its specification has with any of the types."""
    found = [
        {
            finding: None  # in the order of the rules
            for finding in examine(facts)
            if finding.severity is Severity.ERROR and finding.subject.partition(".")[0] in Workload.model_fields
        }
        for facts in trials
    ]
    first, *others = found
    yield from (finding for finding in first if all(finding in other for other in others))


def _too_long(workload: Workload, trials: list[Facts]) -> Iterator[Finding]:
    """Yield a finding where a mean request fits the context of none of the types, though its prompt does."""
    requests, contexts = requests_of(workload.traffic), [context_tokens(facts) for facts in trials]
    if requests is None:
        return
    longest = max((context for context in contexts if context is not None), default=None)
    if longest is None or workload.traffic.prompt_tokens >= longest:  # no row, or PD229
        return
    if requests.longest_tokens > longest:
        room = longest - workload.traffic.prompt_tokens
        yield TOO_LONG_REQUEST.finding(
            "traffic.output_tokens",
            f"requests of {requests.longest_tokens:,.0f} tokens do not fit a context of {longest:,}",
            f"state answers of at most {room:,}, or raise model.max_model_len",
        )
