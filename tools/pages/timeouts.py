"""The page of the chain of time limits."""

from __future__ import annotations

from constructs_pd import plan_file
from constructs_pd.planning import defaults
from constructs_pd.planning.timeouts import chain
from tools.pages.table import DOCS, NOTE, table

_HEAD = """# Time limits

How long an answer may take is stated once, as `endpoint.longest_generation_seconds`; every other limit follows from it.
The default, 600 seconds, is what Ray Serve LLM gives an answer that is not streamed (Ray 2.58.0,
RAY_SERVE_LLM_ROUTER_HTTP_TIMEOUT), and how long OpenAI's own client libraries wait for one: give them another `timeout`
for more. It is seconds and not tokens: how long a token takes depends on the load and on the hardware, and would be a
guess. `constructs-pd explain PD160 my.yaml` says which pace a whole context asks for.

Serve ends what takes longer: with a 408 where no byte was sent yet, by cutting the stream where some were. A client can
ask Serve for another limit in the header `x-request-timeout-seconds`, so whatever stands in front of Serve should take
that header and `x-request-disconnect-disabled` away from strangers (Ray 2.58.0 `serve/_private/http_util.py`).

`endpoint.idle_timeout_seconds` and `drain_seconds` can be stated beside it. Where one of them is too short for the
longest generation, [PD160](rules.md) names the two limits that disagree, with both numbers.

"""
_CHAIN = """## The chain

Of the reference deployment, whose longest generation takes {generation} seconds. The first of each line must end before
the second, by the margin at least. Without a load balancer the lines that name one do not count.

"""
_STOP = """
## When a pod stops

1. Kubernetes marks the pod as terminating and sends SIGTERM at the same time. Its address leaves the Service, and the
   load balancer's controller deregisters the target: the balancer sends it nothing new, and waits for what it has.
2. Ray's proxy on the pod answers its health check with 503 from now on, but goes on serving for {proxy} seconds at
   least. That is the time in which the balancer learns of it, and why there is no preStop hook: a sleep would add to
   it, `ray stop` would end it.
3. Replicas stay as they are until the drain's end less their own time for shutdown. So a request that comes in the
   first {margin} seconds is still served, also where there is no second replica.
4. Replicas finish their requests, then the node ends, at once where nothing is left: the limits are the worst case, and
   an idle pod is gone in about a minute. Kubernetes kills what is left after the grace period.

All pods of the cluster have the same grace period, the head too: it must be there for the workers' drain. With
`upgrade.strategy: new_cluster` KubeRay deletes the old cluster 60 seconds after it has moved the traffic
(`rayClusterDeletionDelaySeconds`, KubeRay 1.7.0), and each of its pods stops like this.

An upgrade of a managed node group waits {eviction} seconds for the pods of a node. The reference deployment's pods take
{grace} at most; [PD161](rules.md) warns of more.

The controller's pod readiness gates hold a rollout until the balancer has found new pods healthy. They do nothing for
Ray's pods, which exist before the Service that the gate asks for; they suit a Deployment in front of Serve, whose
namespace is labelled `elbv2.k8s.aws/pod-readiness-gate-inject: enabled` (AWS Load Balancer Controller 3.5.0,
docs/deploy/pod_readiness_gate.md).

What the chain does not cover: a prefill pod holds a KV cache until decode has read it, and Serve does not count that as
a request. A prefill pod that stops in those milliseconds fails the request.
"""


def timeouts_page() -> str:
    """Return the chain of time limits with the reference deployment's numbers."""
    planned = plan_file(DOCS.parent / "apps" / "reference.yaml").timeouts
    rows = [
        (
            f"{link.inner.name} (`{link.inner.field}`)",
            f"{link.inner.seconds} s",
            f"{link.outer.name} (`{link.outer.field}`)",
            f"{link.outer.seconds} s",
            f"{link.margin_seconds} s",
            link.reason,
            link.source,
        )
        for link in chain(planned)
    ]
    columns = ("ends first", "after", "outlasts it", "after", "margin", "otherwise", "source")
    stop = _STOP.format(
        proxy=planned.proxy_drain_seconds,
        margin=defaults.PROXY_DRAIN_SECONDS,
        eviction=defaults.NODE_EVICTION_SECONDS,
        grace=planned.termination_grace_seconds,
    )
    return NOTE + _HEAD + _CHAIN.format(generation=planned.generation_seconds) + table(columns, rows) + stop
