"""The page of the chain of time limits."""

from __future__ import annotations

from constructs_pd import plan_file
from constructs_pd.planning import defaults
from constructs_pd.planning.timeouts import Limit, chain
from tools.pages.table import DOCS, NOTE, table

_HEAD = """# Time limits

How long an answer may take is stated once, as `endpoint.longest_generation_seconds`; every other limit follows from it.
The default, 600 seconds, is what Ray Serve LLM gives an answer that is not streamed (Ray 2.58.0,
RAY_SERVE_LLM_ROUTER_HTTP_TIMEOUT), and how long OpenAI's own client libraries wait for one: give them another `timeout`
for more. It is seconds and not tokens: how long a token takes depends on the load and on the hardware, and would be a
guess. `constructs-pd explain PD160 my.yaml` says which pace a whole context asks for.

Serve ends what takes longer: with a 408 where no byte was sent yet, by cutting the stream where some were. A client can
ask Serve for another limit in the header `x-request-timeout-seconds`, or have an answer go on that it gave up with
`x-request-disconnect-disabled` (Ray 2.58.0 `serve/_private/http_util.py`): the [gateway](gateway.md) takes both away.

`endpoint.idle_timeout_seconds` and `drain_seconds` can be stated beside it. Where one of them is too short for the
longest generation, [PD160](rules.md) names the two limits that disagree, with both numbers.

"""
_CHAIN = """## The chain

Of the reference deployment, whose longest generation takes {generation} seconds. The first of each line must end before
the second, by the margin at least. Lines that name a load balancer or a gateway count where there is one; with a
gateway the balancer's connections end there, and each request to Serve has a connection of its own.

"""
_STOP = """
## When a pod stops

1. Kubernetes marks the pod as terminating and sends SIGTERM at the same time. Its address leaves the Service, and the
   load balancer's controller deregisters the target: the balancer soon sends it nothing new, and waits for what it has.
2. Ray marks the node as draining: nothing is placed on it any more. What runs on it goes on, its proxy included, until
   the drain ends; then its processes are killed. So what the balancer still sends in the first {lag} seconds is
   answered whole, also where there is no second replica. That is why there is no preStop hook: a sleep would only come
   before the drain, `ray stop` would end it.
3. Kubernetes kills what is left after the grace period.

Ray 2.58.0 does not tell Serve which nodes drain (`serve/_private/cluster_node_info_cache.py`, get_draining_nodes). Two
things follow:

- A pod takes the whole drain, also where it has nothing left to do.
- Serve stops no replica of the pod beforehand. While other pods of the cluster stay, their proxies send requests to the
  engines of the one that stops until it is killed, and those that are not answered then fail. Upgrade nodes when there
  is little to do. A second cluster of `upgrade.strategy: new_cluster` does not have this: the traffic has moved before
  pods of the first are stopped, nothing new comes to them, and everything that runs ends.

A pod of the gateway goes on listening for {pre_stop} seconds, in its preStop hook, which then sends HAProxy SIGUSR1: it
ceases to listen, closes connections without a request, and ends when its streams have. What is still open after
`hard-stop-after`, {hard_stop} seconds, is cut; Kubernetes would kill the pod after {gateway_grace} seconds in all.

All pods of the cluster have the same grace period, the head too: it must be there for the workers' drain. With
`upgrade.strategy: new_cluster` KubeRay deletes the old cluster 60 seconds after it has moved the traffic
(`rayClusterDeletionDelaySeconds`, KubeRay 1.7.0), and each of its pods stops like this.

An upgrade of a managed node group waits {eviction} seconds for the pods of a node. The reference deployment's Ray pods
take {grace} at most, and those of a gateway {gateway_grace}; [PD161](rules.md) warns of more.

The controller's pod readiness gates hold a rollout until the balancer has found new pods healthy. They do nothing for
Ray's pods, which exist before the Service that the gate asks for. They suit the gateway: where there is a balancer, its
namespace is labelled `elbv2.k8s.aws/pod-readiness-gate-inject: enabled`, so that no pod of it is replaced before the
balancer sends requests to the one before (AWS Load Balancer Controller 3.5.0, docs/deploy/pod_readiness_gate.md).

An update of the application, without a pod that stops, is Serve's own: it stops a replica only when its requests are
answered, or its time for shutdown is over. What that does not cover: a prefill replica holds a KV cache until decode
has read it, and Serve does not count that as a request. One that stops in those milliseconds fails the request.
"""


def _named(limit: Limit) -> str:
    return f"{limit.name} ({f'`{limit.field}`' if limit.field else 'fixed'})"


def timeouts_page() -> str:
    """Return the chain of time limits with the reference deployment's numbers."""
    planned = plan_file(DOCS.parent / "apps" / "reference.yaml").timeouts
    rows = [
        (
            _named(link.inner),
            f"{link.inner.seconds} s",
            _named(link.outer),
            f"{link.outer.seconds} s",
            f"{link.margin_seconds} s",
            link.reason,
            link.source,
        )
        for link in chain(planned)
    ]
    columns = ("ends first", "after", "outlasts it", "after", "margin", "otherwise", "source")
    stop = _STOP.format(
        lag=planned.deregistration_lag_seconds,
        eviction=defaults.NODE_EVICTION_SECONDS,
        grace=planned.termination_grace_seconds,
        pre_stop=planned.gateway_pre_stop_seconds,
        hard_stop=planned.gateway_hard_stop_seconds,
        gateway_grace=planned.gateway_grace_seconds,
    )
    return NOTE + _HEAD + _CHAIN.format(generation=planned.generation_seconds) + table(columns, rows) + stop
