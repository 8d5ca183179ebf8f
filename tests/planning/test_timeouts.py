from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.timeouts import chain, timeouts_plan
from readers.ray_session import ray_session
from support.specs import plan_with, spec_with

GENERATION, IDLE = "endpoint.longest_generation_seconds", "endpoint.idle_timeout_seconds"


@pytest.mark.parametrize("generation", [1, 600, 3540])
def test_all_limits_follow_from_the_longest_generation_and_stay_within_what_elb_accepts(generation: int) -> None:
    timeouts = timeouts_plan(spec_with({GENERATION: generation}))
    assert timeouts.generation_seconds == generation
    assert all(link.missing_seconds <= 0 for link in chain(timeouts))
    assert 1 <= timeouts.idle_seconds <= 4000
    assert 60 <= timeouts.client_keep_alive_seconds <= 604_800
    assert 0 <= timeouts.deregistration_seconds <= 3600


@pytest.mark.parametrize(
    "changes", [{GENERATION: 60, "drain_seconds": 95}, {GENERATION: 60, IDLE: 70}, {IDLE: 4000, "drain_seconds": 3600}]
)
def test_what_is_stated_stays_and_the_rest_follows(changes: dict[str, Any]) -> None:
    timeouts = plan_with(changes).timeouts
    if "drain_seconds" in changes:
        assert timeouts.node_drain_seconds == timeouts.deregistration_seconds == changes["drain_seconds"]
    if IDLE in changes:
        assert timeouts.idle_seconds == changes[IDLE] < timeouts.keep_alive_seconds
        assert timeouts.client_keep_alive_seconds >= changes[IDLE]
    assert all(link.missing_seconds <= 0 for link in chain(timeouts))


def test_each_limit_is_longer_than_the_one_inside() -> None:
    timeouts = plan_with().timeouts
    outwards = (timeouts.generation_seconds, timeouts.request_seconds, timeouts.idle_seconds)
    assert outwards == (600, 605, 610)
    assert timeouts.keep_alive_seconds == 615
    assert timeouts.replica_shutdown_seconds == 610
    assert (timeouts.node_drain_seconds, timeouts.termination_grace_seconds) == (640, 670)
    assert (timeouts.gateway_silence_seconds, timeouts.gateway_pre_stop_seconds) == (615, 30)
    assert (timeouts.gateway_hard_stop_seconds, timeouts.gateway_grace_seconds) == (640, 700)


def test_rays_own_numbers_are_those_that_the_chain_counts_with() -> None:
    with ray_session():
        from ray.serve._private import constants

    assert plan_with().timeouts.deregistration_lag_seconds == constants.PROXY_MIN_DRAINING_PERIOD_S
    (shutdown,) = [link for link in chain(plan_with().timeouts) if link.outer.name == "the shutdown of a Serve replica"]
    assert shutdown.margin_seconds == constants.DEFAULT_GRACEFUL_SHUTDOWN_WAIT_LOOP_S


def test_serve_is_not_told_that_a_node_drains() -> None:
    """Where it were, its proxies and replicas would go before the drain ends, and the chain would have another link."""
    with ray_session():
        from ray.serve._private.cluster_node_info_cache import DefaultClusterNodeInfoCache

    assert DefaultClusterNodeInfoCache(None).get_draining_nodes() == {}
