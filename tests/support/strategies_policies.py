"""Network policies that plan: every field of `network_policy`, over the values that the planner permits."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any

from hypothesis import strategies as st

from constructs_pd.planning.network_policies import LINK_LOCAL
from support import strategies_text as text

_cidrs = st.lists(
    st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 32))
    .map(lambda parts: IPv4Network(parts, strict=False))
    .filter(lambda network: not network.subnet_of(IPv4Network(LINK_LOCAL)))
    .map(str),
    min_size=1,
    max_size=3,
    unique=True,
)
_namespaces = st.lists(text.namespaces, min_size=1, max_size=3, unique=True)


@st.composite
def network_policies(
    draw: st.DrawFn,
    makes_cluster: bool,
    endpoint: dict[str, Any],
    cache: dict[str, Any] | None,
    redis: dict[str, Any] | None,
    tracing: dict[str, Any] | None,
    *,
    is_monitored: bool,
) -> dict[str, Any]:
    """Return policies for a deployment with this endpoint, model cache, Redis and traces, perhaps with monitoring."""
    needed: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {
        "enforced_by": st.sampled_from(["vpc_cni", "other"]),
        "operator_namespace": text.namespaces,
        "node_local_dns": st.booleans(),
        "egress_cidrs": _cidrs if cache is None else _cidrs | st.just([]),
        "credentials": st.lists(st.sampled_from(["pod_identity", "instance_metadata"]), max_size=2, unique=True),
    }
    (needed if is_monitored else optional)["monitoring_namespaces"] = _namespaces
    has_balancer = endpoint.get("exposure", "cluster") != "cluster"
    (optional if has_balancer else needed)["client_namespaces"] = _namespaces
    if has_balancer:
        (optional if makes_cluster else needed)["balancer_cidrs"] = _cidrs
    if endpoint.get("conformance_job"):
        optional["kubernetes_api_cidrs"] = _cidrs
    if redis is not None:
        needed["redis_cidrs"] = _cidrs
        optional["redis_namespaces"] = _namespaces
    if tracing is not None:
        needed["collector_cidrs"] = _cidrs
        optional["collector_namespaces"] = _namespaces
    return draw(st.fixed_dictionaries(needed, optional=optional))
