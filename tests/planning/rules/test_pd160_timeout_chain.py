from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.facts import gather
from constructs_pd.planning.rules.pd160_timeout_chain import RULE, links, worked
from support.gateway import GATEWAY
from support.rules import findings_of
from support.specs import spec_with

GENERATION, IDLE = "endpoint.longest_generation_seconds", "endpoint.idle_timeout_seconds"


@pytest.mark.parametrize("generation", [1, 600, 3540])
def test_accepts_what_is_derived(generation: int) -> None:
    assert findings_of(RULE, {GENERATION: generation}) == []


@pytest.mark.parametrize("changes", [{IDLE: 610}, {IDLE: 4000}, {"drain_seconds": 635}, {"drain_seconds": 3600}])
def test_accepts_what_is_long_enough(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


def test_names_the_two_links_that_disagree_where_the_balancer_is_impatient() -> None:
    (finding,) = findings_of(RULE, {IDLE: 60})
    assert finding.subject == IDLE
    assert finding.message == (
        "a silent connection to the load balancer, has 60 s (endpoint.idle_timeout_seconds), a request to Ray Serve, "
        "until the last byte, has 605 s (endpoint.longest_generation_seconds): the first needs 610 s or more"
    )
    assert "raise endpoint.idle_timeout_seconds to 610, or leave it out" in finding.remedy
    assert "lower endpoint.longest_generation_seconds to 50" in finding.remedy


def test_names_the_two_links_that_disagree_where_a_node_stops_too_soon() -> None:
    (finding,) = findings_of(RULE, {"drain_seconds": 120})
    assert finding.subject == "drain_seconds"
    assert "the drain of a Ray node, after SIGTERM, has 120 s (drain_seconds)" in finding.message
    assert "605 s (endpoint.longest_generation_seconds): the first needs 635 s or more" in finding.message
    assert "raise drain_seconds to 635" in finding.remedy
    assert "lower endpoint.longest_generation_seconds to 85" in finding.remedy
    assert findings_of(RULE, {"drain_seconds": 635}) == []
    assert findings_of(RULE, {"drain_seconds": 120, GENERATION: 85}) == []


def test_names_both_pairs() -> None:
    found = findings_of(RULE, {IDLE: 100, "drain_seconds": 100})
    assert [finding.subject for finding in found] == [IDLE, "drain_seconds"]


def test_a_remedy_names_no_value_that_a_field_does_not_take() -> None:
    (finding,) = findings_of(RULE, {IDLE: 5})
    assert "lower" not in finding.remedy


def test_without_a_balancer_nothing_waits_in_between() -> None:
    assert findings_of(RULE, {"endpoint": {"idle_timeout_seconds": 60}}) == []
    assert len(findings_of(RULE, {"endpoint": {"idle_timeout_seconds": 60}, "drain_seconds": 120})) == 1


def test_names_the_gateway_where_it_is_impatient() -> None:
    (finding,) = findings_of(RULE, {"endpoint": {"gateway": GATEWAY, "idle_timeout_seconds": 60}})
    assert finding.subject == IDLE
    assert finding.message == (
        "a silent connection to the gateway, has 65 s (endpoint.idle_timeout_seconds), a request to Ray Serve, until "
        "the last byte, has 605 s (endpoint.longest_generation_seconds): the first needs 610 s or more"
    )
    assert "raise endpoint.idle_timeout_seconds to 605, or leave it out" in finding.remedy
    assert findings_of(RULE, {"endpoint": {"gateway": GATEWAY, "idle_timeout_seconds": 605}}) == []


def test_of_gateway_and_balancer_it_names_what_lacks_most() -> None:
    (finding,) = findings_of(RULE, {IDLE: 60, "endpoint.gateway": GATEWAY})
    assert finding.message.startswith("a silent connection to the load balancer, has 60 s")
    assert "raise endpoint.idle_timeout_seconds to 610" in finding.remedy
    assert findings_of(RULE, {IDLE: 610, "endpoint.gateway": GATEWAY}) == []


@pytest.mark.parametrize(
    ("endpoint", "parts"),
    [
        ({}, {"serve"}),
        ({"exposure": "internal_alb"}, {"serve", "balancer"}),
        ({"gateway": GATEWAY}, {"serve", "gateway"}),
        ({"exposure": "internal_alb", "gateway": GATEWAY}, {"serve", "balancer", "gateway"}),
    ],
)
def test_a_deployment_has_the_links_of_what_it_has(endpoint: dict[str, Any], parts: set[str]) -> None:
    found = links(gather(spec_with({"endpoint": endpoint}), load_catalog()))
    assert {part for link in found for part in link.parts} == parts


def test_says_its_numbers_and_the_pace_that_they_ask_for() -> None:
    lines = list(worked(gather(spec_with(), load_catalog())))
    assert lines[0].endswith("600 s + 5 s <= 605 s: a request to Ray Serve, until the last byte")
    assert lines[-1] == "an answer of a whole context, 1,024 tokens, fits at 586 ms a token or less"
