"""The chain of time limits from a client to an engine, and from a stopping pod to its end.

Every limit follows from one number, how long an answer may take, and each outlasts the one that it must outlast: where
two of them end in the wrong order, something cuts what something else still allows. docs/timeouts.md shows the chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from constructs_pd.planning import defaults
from constructs_pd.planning.deployment_plan import TimeoutsPlan
from constructs_pd.planning.spec import DeploymentSpec

GENERATION: Final = "endpoint.longest_generation_seconds"
IDLE: Final = "endpoint.idle_timeout_seconds"
DRAIN: Final = "drain_seconds"

# Where a limit holds: a deployment has those of what it has. Ray Serve is in each.
Part = Literal["serve", "balancer", "gateway"]


@dataclass(frozen=True, slots=True)
class Limit:
    """A time limit.

    Attributes:
        name: What ends then.
        seconds: After how long.
        field: The field of the specification that sets it; none: it is fixed.
        part: What has it.
    """

    name: str
    seconds: int
    field: str | None
    part: Part = "serve"


@dataclass(frozen=True, slots=True)
class Link:
    """Two time limits of which one must outlast the other.

    Attributes:
        inner: What must end first.
        outer: What must outlast it.
        margin_seconds: By how much at least.
        reason: What happens otherwise.
        source: Where that is known from.
    """

    inner: Limit
    outer: Limit
    margin_seconds: int
    reason: str
    source: str

    @property
    def parts(self) -> set[Part]:
        """What a deployment must have for this link to count."""
        return {self.inner.part, self.outer.part}

    @property
    def needed_seconds(self) -> int:
        """The least that the outer limit must be."""
        return self.inner.seconds + self.margin_seconds

    @property
    def missing_seconds(self) -> int:
        """How much the outer limit is too short by; 0 or less where the link holds."""
        return self.needed_seconds - self.outer.seconds


def timeouts_plan(spec: DeploymentSpec) -> TimeoutsPlan:
    """Decide every time limit of a deployment."""
    generation = spec.endpoint.longest_generation_seconds
    stated_idle = spec.endpoint.idle_timeout_seconds
    idle = generation + defaults.IDLE_MARGIN_SECONDS if stated_idle is None else stated_idle
    drain = generation + defaults.DRAIN_MARGIN_SECONDS if spec.drain_seconds is None else spec.drain_seconds
    lag, grace = defaults.DEREGISTRATION_LAG_SECONDS, drain + defaults.TERMINATION_MARGIN_SECONDS
    return TimeoutsPlan(
        generation_seconds=generation,
        request_seconds=generation + defaults.REQUEST_MARGIN_SECONDS,
        idle_seconds=idle,
        client_keep_alive_seconds=max(defaults.CLIENT_KEEP_ALIVE_SECONDS, idle),
        keep_alive_seconds=idle + defaults.KEEP_ALIVE_MARGIN_SECONDS,
        replica_shutdown_seconds=generation + defaults.REPLICA_MARGIN_SECONDS,
        deregistration_lag_seconds=lag,
        health_check_seconds=defaults.HEALTH_CHECK_SECONDS,
        node_drain_seconds=drain,
        deregistration_seconds=drain,
        termination_grace_seconds=grace,
        gateway_silence_seconds=idle + defaults.KEEP_ALIVE_MARGIN_SECONDS,
        gateway_pre_stop_seconds=lag,
        gateway_hard_stop_seconds=drain,
        gateway_grace_seconds=lag + grace,
    )


def chain(timeouts: TimeoutsPlan) -> tuple[Link, ...]:
    """Return every link of a deployment with a load balancer and a gateway."""
    router = Limit("Ray's router, until the first byte of an answer", timeouts.generation_seconds, GENERATION)
    request = Limit("a request to Ray Serve, until the last byte", timeouts.request_seconds, GENERATION)
    idle = Limit("a silent connection to the load balancer", timeouts.idle_seconds, IDLE, "balancer")
    client = Limit("a client's connection to the load balancer", timeouts.client_keep_alive_seconds, IDLE, "balancer")
    keep_alive = Limit("an idle connection to Ray Serve", timeouts.keep_alive_seconds, IDLE)
    replica = Limit("the shutdown of a Serve replica", timeouts.replica_shutdown_seconds, GENERATION)
    drain = Limit("the drain of a Ray node, after SIGTERM", timeouts.node_drain_seconds, DRAIN)
    deregistration = Limit(
        "the deregistration of a pod at the load balancer", timeouts.deregistration_seconds, DRAIN, "balancer"
    )
    grace = Limit("the termination grace period of a Ray pod", timeouts.termination_grace_seconds, DRAIN)
    return (
        Link(
            router,
            request,
            defaults.REQUEST_MARGIN_SECONDS,
            "the proxy would end the request first, with a line of text in the place of an error in OpenAI's form",
            "Ray 2.58.0 llm/_internal/serve/core/ingress/ingress.py, router_request_timeout; serve/_private/proxy.py",
        ),
        Link(
            request,
            idle,
            defaults.REQUEST_MARGIN_SECONDS,
            "an answer that is not streamed is silent until it is whole: the balancer would answer 504 while the "
            "engine still works on it",
            "Application Load Balancers user guide, connection idle timeout, 1 to 4000 seconds",
        ),
        Link(
            idle,
            keep_alive,
            defaults.KEEP_ALIVE_MARGIN_SECONDS,
            "the balancer would send a request on a connection that Serve has just closed, and answer 502",
            "Application Load Balancers user guide, connection idle timeout",
        ),
        Link(
            idle,
            client,
            0,
            "clients would connect anew more often than they fall silent",
            "Application Load Balancers user guide, HTTP client keepalive duration, 60 to 604800 seconds; a response "
            "that runs is not cut",
        ),
        Link(
            request,
            replica,
            defaults.REPLICA_WAIT_LOOP_SECONDS,
            "Serve kills a replica that still has requests then, at every update of the application",
            "Ray 2.58.0 serve/_private/replica.py, perform_graceful_shutdown; it looks every 2 seconds "
            "(graceful_shutdown_wait_loop_s)",
        ),
        Link(
            request,
            drain,
            timeouts.deregistration_lag_seconds,
            "the pod's processes are killed at the end of the drain, whatever they are answering; the margin is for "
            "requests that the balancer still sends while it deregisters the pod",
            "Ray 2.58.0 _private/node.py, _drain_node_before_shutdown; serve/_private/constants.py, "
            "RAY_SERVE_PROXY_MIN_DRAINING_PERIOD_S",
        ),
        Link(
            drain,
            deregistration,
            0,
            "the balancer would give up requests that the draining pod still answers",
            "Application Load Balancers user guide, deregistration delay, 0 to 3600 seconds",
        ),
        Link(
            drain,
            grace,
            defaults.TERMINATION_MARGIN_SECONDS,
            "Kubernetes kills the pod while Ray drains it or ends its processes",
            "Ray 2.58.0 _private/node.py, _drain_node_before_shutdown; Kubernetes documentation, Pod Lifecycle",
        ),
        *_of_the_gateway(timeouts, request, idle),
    )


def _of_the_gateway(timeouts: TimeoutsPlan, request: Limit, idle: Limit) -> tuple[Link, ...]:
    silence = Limit("a silent connection to the gateway", timeouts.gateway_silence_seconds, IDLE, "gateway")
    lag = Limit("connections that still come to a pod that stops", timeouts.deregistration_lag_seconds, None, "gateway")
    pre_stop = Limit(
        "the gateway's preStop hook, in which it goes on listening", timeouts.gateway_pre_stop_seconds, None, "gateway"
    )
    hard_stop = Limit(
        "the gateway's hard stop, after it has ceased to listen", timeouts.gateway_hard_stop_seconds, DRAIN, "gateway"
    )
    grace = Limit("the termination grace period of a gateway's pod", timeouts.gateway_grace_seconds, DRAIN, "gateway")
    return (
        Link(
            request,
            silence,
            defaults.REQUEST_MARGIN_SECONDS,
            "an answer that is not streamed is silent until it is whole: the gateway would answer 504 while the "
            "engine still works on it",
            "HAProxy 2.8 configuration manual, timeout server and timeout client",
        ),
        Link(
            idle,
            silence,
            defaults.KEEP_ALIVE_MARGIN_SECONDS,
            "the balancer would send a request on a connection that the gateway has just closed, and answer 502",
            "HAProxy 2.8 configuration manual, timeout http-keep-alive",
        ),
        Link(
            lag,
            pre_stop,
            0,
            "they would be refused",
            "Kubernetes documentation, Pod Lifecycle; HAProxy 2.8 management guide, soft stop",
        ),
        Link(
            request,
            hard_stop,
            defaults.REQUEST_MARGIN_SECONDS,
            "the gateway cuts every stream then, also one that has just begun when it ceases to listen",
            "HAProxy 2.8 configuration manual, hard-stop-after",
        ),
        Link(
            hard_stop,
            grace,
            timeouts.gateway_pre_stop_seconds + defaults.TERMINATION_MARGIN_SECONDS,
            "Kubernetes kills the pod with the streams on it; the preStop hook is a part of the period",
            "Kubernetes documentation, Container Lifecycle Hooks",
        ),
    )
