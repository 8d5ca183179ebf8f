"""Network policies of a deployment: everything is denied to its pods, then what they need is allowed, each by name.

A pod always reaches itself, and its node reaches it: probes need no policy (Kubernetes documentation, Network
Policies). What the node does for a pod is no traffic of the pod: the pull of an image, the mount of a file system. EFA
is no IP traffic, so that no policy sees the KV cache: the node's security group alone confines it.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from typing import Final

from constructs_pd.planning import defaults
from constructs_pd.planning.addons import KUBE_SYSTEM
from constructs_pd.planning.balancer import has_keys
from constructs_pd.planning.charts import KUBERAY_OPERATOR
from constructs_pd.planning.deployment_plan import PhaseName
from constructs_pd.planning.facts import Facts, PhaseFacts
from constructs_pd.planning.gateway import CONTAINER_PORT, gateway_namespace
from constructs_pd.planning.network_plan import network_plan
from constructs_pd.planning.network_policy_plan import (
    AddressesPlan,
    AllowPlan,
    NetworkPolicyPlan,
    PodsPlan,
    PolicyPortsPlan,
)
from constructs_pd.planning.observability import port_of
from constructs_pd.planning.phase import phase_plan
from constructs_pd.planning.spec import GcsFaultTolerance
from constructs_pd.planning.spec_network_policy import NetworkPolicy

_WORKERS: Final[tuple[PhaseName, PhaseName]] = ("prefill", "decode")
_RAY: Final = ("head", *_WORKERS)
_CHECK: Final = "check"
# Labels of its Deployment's pods in chart 1.7.0 (helm-chart/kuberay-operator/templates/deployment.yaml).
_OPERATOR: Final = {"app.kubernetes.io/name": KUBERAY_OPERATOR}
_DNS: Final = {"k8s-app": "kube-dns"}
# Labels of Ray's workers, and in the selector of the Service that KubeRay makes of them (KubeRay 1.7.0 common/pod.go
# and service.go). The VPC CNI sees a packet on its way out before the Service's address becomes a pod's, and lets it
# out where labels that a policy names stand in the Service's selector (amazon-network-policy-controller-k8s,
# pkg/resolvers/endpoints.go, getMatchingServiceClusterIPs); this deployment's own do not stand there.
_BEHIND_THE_SERVICE: Final = {"ray.io/serve": "true"}

# IANA IPv4 Special-Purpose Address Registry. On EC2 it holds the instance metadata, DNS and time of the node, and the
# credentials of pods.
LINK_LOCAL: Final = "169.254.0.0/16"
_EVERYWHERE: Final = "0.0.0.0/0"
# Kubernetes documentation, Using NodeLocal DNSCache in Kubernetes Clusters.
_NODE_LOCAL_DNS: Final = "169.254.20.10/32"
# EKS user guide, Learn how EKS Pod Identity works; EC2 User Guide, instance metadata.
_CREDENTIALS: Final = {"pod_identity": "169.254.170.23/32", "instance_metadata": "169.254.169.254/32"}
# The first address of either range that EKS gives to Services (EKS API, KubernetesNetworkConfigRequest); Kubernetes'
# own Service has it.
_API_SERVICES: Final = ("10.100.0.1/32", "172.20.0.1/32")
# A rank is a port, and a new replica takes the next one where that of the replica that it follows is not free yet (Ray
# 2.58.0 serve/_private/deployment_state.py, assign_rank; llm/_internal/serve/engines/vllm/kv_transfer/base.py).
_RANKS_PER_REPLICA: Final = 2

_HTTPS: Final = (PolicyPortsPlan(first=443),)
_HTTP: Final = (PolicyPortsPlan(first=80),)
_DNS_PORTS: Final = (PolicyPortsPlan(first=53, protocol="UDP"), PolicyPortsPlan(first=53))
_SERVE: Final = (PolicyPortsPlan(first=defaults.SERVE_PORT),)
_METRICS: Final = (PolicyPortsPlan(first=defaults.METRICS_PORT),)
_GATEWAY_PORTS: Final = (PolicyPortsPlan(first=CONTAINER_PORT),)
_DASHBOARD: Final = (PolicyPortsPlan(first=defaults.DASHBOARD_PORT),)
_HEAD: Final = (PolicyPortsPlan(first=defaults.GCS_PORT), *_DASHBOARD)
_BETWEEN_NODES: Final = (
    PolicyPortsPlan(first=defaults.NODE_MANAGER_PORT),
    PolicyPortsPlan(first=defaults.OBJECT_MANAGER_PORT),
    PolicyPortsPlan(first=defaults.DASHBOARD_AGENT_GRPC_PORT),
    PolicyPortsPlan(first=defaults.DASHBOARD_AGENT_PORT),
    PolicyPortsPlan(first=defaults.FIRST_RAY_WORKER_PORT, last=defaults.LAST_RAY_WORKER_PORT),
)


def network_policies(facts: Facts) -> tuple[NetworkPolicyPlan, ...]:
    """Return them, or none where none are wanted, for a specification that no rule refuses."""
    stated = facts.spec.network_policy
    return () if stated is None else tuple(_Policies(facts, stated).all())


class _Policies:
    """The policies of one deployment."""

    def __init__(self, facts: Facts, stated: NetworkPolicy) -> None:
        self._facts, self._stated, self._spec = facts, stated, facts.spec
        # Clients then reach the gateway, in a namespace of its own, instead of Serve.
        self._has_gateway = has_keys(facts.spec.endpoint)
        self._labels = {defaults.DEPLOYMENT_LABEL: facts.spec.name}

    def all(self) -> Iterator[NetworkPolicyPlan]:
        """Yield them: what denies first, then what allows."""
        every, ray, workers = PodsPlan(labels=self._labels), self._pods(*_RAY), self._pods(*_WORKERS)
        yield self._policy("default-deny", every, isolates=True)
        yield self._policy("dns", every, egress=self._names())
        yield self._policy(
            "ray", ray, ingress=(_allow(_BETWEEN_NODES, ray),), egress=(_allow(_BETWEEN_NODES, ray), self._head(ray))
        )
        yield self._policy("head", self._pods("head"), ingress=(_allow(_HEAD, ray), _allow(_DASHBOARD, self._operator)))
        yield from self._hand_over()
        yield self._policy("serve", workers, ingress=(_allow(_SERVE, *self._behind_serve()),))
        if readers := self._readers():
            yield self._policy("metrics", ray, ingress=(_allow(_METRICS, *readers),))
        if outside := tuple(self._outside()):
            yield self._policy("outside", ray, egress=outside)
        if collector := self._collector():
            yield self._policy("tracing", ray, egress=(collector,))
        if redis := self._spec.gcs_fault_tolerance:
            yield self._policy("redis", self._pods("head"), egress=(self._redis(redis),))
        if self._spec.endpoint.conformance_job:
            yield self._policy("check", self._pods(_CHECK), egress=tuple(self._check()))
        if self._has_gateway:
            yield from self._gateway()

    def _hand_over(self) -> Iterator[NetworkPolicyPlan]:
        """Yield a policy for each phase: the NIXL handshake, by TCP, with the other phase alone."""
        ports = {phase.name: self._side_channel(phase) for phase in self._facts.phases}
        for own, other in (_WORKERS, _WORKERS[::-1]):
            peer = self._pods(other)
            yield self._policy(
                f"nixl-{own}",
                self._pods(own),
                ingress=(_allow(ports[own], peer),),
                egress=(_allow(ports[other], peer),),
            )

    def _side_channel(self, facts: PhaseFacts) -> tuple[PolicyPortsPlan]:
        """Return the ports at which engines of a phase answer: one for each rank of each replica."""
        phase = phase_plan(facts, self._facts)
        count = phase.tensor_parallel * phase.replicas * _RANKS_PER_REPLICA
        first = phase.nixl_side_channel_port
        return (PolicyPortsPlan(first=first, last=first + count - 1),)

    def _names(self) -> tuple[AllowPlan, ...]:
        cluster_dns = PodsPlan(namespace=KUBE_SYSTEM, labels=_DNS)
        on_the_node = (AddressesPlan(cidr=_NODE_LOCAL_DNS),) if self._stated.node_local_dns else ()
        return (_allow(_DNS_PORTS, cluster_dns, *on_the_node),)

    def _head(self, ray: PodsPlan) -> AllowPlan:
        return _allow(_HEAD, ray.model_copy(update={"roles": ("head",)}))

    @property
    def _operator(self) -> PodsPlan:
        return PodsPlan(namespace=self._stated.operator_namespace, labels=_OPERATOR)

    def _behind_serve(self) -> tuple[PodsPlan | AddressesPlan, ...]:
        """Return who speaks to Serve: the gateway where there is one, else clients; and the check, which has no key."""
        front = (self._gateways,) if self._has_gateway else self._clients()
        return (*front, *self._checks())

    def _clients(self) -> tuple[PodsPlan | AddressesPlan, ...]:
        return (*(PodsPlan(namespace=name) for name in self._stated.client_namespaces), *self._balancer())

    def _checks(self) -> tuple[PodsPlan, ...]:
        return (self._pods(_CHECK),) if self._spec.endpoint.conformance_job else ()

    def _balancer(self) -> tuple[AddressesPlan, ...]:
        """Return the balancer's addresses, from which it sends its clients' requests and asks for health."""
        if self._spec.endpoint.exposure == "cluster":
            return ()
        cidrs = self._stated.balancer_cidrs
        if not cidrs and self._spec.eks_cluster is not None:
            zones = network_plan(self._spec.eks_cluster, self._spec.availability_zone).zones
            internal = self._spec.endpoint.exposure == "internal_alb"
            cidrs = tuple(zone.private_cidr if internal else zone.public_cidr for zone in zones)
        return tuple(AddressesPlan(cidr=cidr) for cidr in cidrs)

    def _readers(self) -> tuple[PodsPlan, ...]:
        """Return who reads metrics."""
        return (*(PodsPlan(namespace=name) for name in self._stated.monitoring_namespaces), *self._checks())

    def _outside(self) -> Iterator[AllowPlan]:
        """Yield what Ray's pods reach outside the cluster: weights, and AWS credentials where they are wanted."""
        if self._stated.egress_cidrs:
            yield _allow(_HTTPS, *(_without_link_local(cidr) for cidr in self._stated.egress_cidrs))
        if self._stated.credentials:
            yield _allow(_HTTP, *(AddressesPlan(cidr=_CREDENTIALS[source]) for source in self._stated.credentials))

    def _collector(self) -> AllowPlan | None:
        """Return the way of the spans; by HTTPS to where weights come from it is open anyway."""
        tracing = self._spec.tracing
        named = [AddressesPlan(cidr=cidr) for cidr in self._stated.collector_cidrs]
        inside = [PodsPlan(namespace=name) for name in self._stated.collector_namespaces]
        if tracing is None or not (named or inside):
            return None
        return _allow((PolicyPortsPlan(first=port_of(tracing.otlp_endpoint)),), *named, *inside)

    def _redis(self, redis: GcsFaultTolerance) -> AllowPlan:
        host, _, port = redis.redis_address.rpartition("//")[2].rpartition(":")
        named = [AddressesPlan(cidr=cidr) for cidr in self._stated.redis_cidrs]
        own = [AddressesPlan(cidr=f"{host}/32")] if is_address(host) and not named else []
        inside = [PodsPlan(namespace=name) for name in self._stated.redis_namespaces]
        return _allow((PolicyPortsPlan(first=int(port)),), *named, *own, *inside)

    def _check(self) -> Iterator[AllowPlan]:
        """Yield what the conformance Job reaches: the endpoint, the decode pods' metrics, the Kubernetes API."""
        yield _allow(_SERVE, PodsPlan(labels=_BEHIND_THE_SERVICE))
        yield _allow(_METRICS, self._pods("decode"))
        yield _allow(_HTTPS, *(_without_link_local(cidr) for cidr in self._api()))

    def _api(self) -> tuple[str, ...]:
        if self._stated.kubernetes_api_cidrs:
            return self._stated.kubernetes_api_cidrs
        cluster = self._spec.eks_cluster
        return (_EVERYWHERE,) if cluster is None else (cluster.vpc_cidr, *_API_SERVICES)

    @property
    def _gateways(self) -> PodsPlan:
        return self._pods("gateway").model_copy(update={"namespace": gateway_namespace(self._spec)})

    def _gateway(self) -> Iterator[NetworkPolicyPlan]:
        """Yield the policy of the gateway's pods, in their namespace: clients in, Serve and names out."""
        serve = PodsPlan(namespace=self._spec.namespace, labels=_BEHIND_THE_SERVICE)
        yield self._policy(
            "gateway",
            self._pods("gateway"),
            namespace=gateway_namespace(self._spec),
            isolates=True,
            ingress=(_allow(_GATEWAY_PORTS, *self._clients()),),
            egress=(_allow(_SERVE, serve), *self._names()),
        )

    def _pods(self, *roles: str) -> PodsPlan:
        return PodsPlan(labels=self._labels, roles=roles)

    def _policy(
        self,
        name: str,
        pods: PodsPlan,
        *,
        namespace: str | None = None,
        isolates: bool = False,
        ingress: tuple[AllowPlan, ...] = (),
        egress: tuple[AllowPlan, ...] = (),
    ) -> NetworkPolicyPlan:
        return NetworkPolicyPlan(
            name=f"{self._spec.name}-{name}",
            namespace=namespace or self._spec.namespace,
            pods=pods,
            isolates=isolates,
            ingress=ingress,
            egress=egress,
        )


def is_address(host: str) -> bool:
    """Return whether a host is an IPv4 address, which a policy can name."""
    try:
        IPv4Address(host)
    except ValueError:
        return False
    return True


def _allow(ports: tuple[PolicyPortsPlan, ...], *peers: PodsPlan | AddressesPlan) -> AllowPlan:
    # A policy without peers allows everybody.
    assert peers, "rules refuse a specification that lets nobody in"
    return AllowPlan(peers=peers, ports=ports)


def _without_link_local(cidr: str) -> AddressesPlan:
    inside = IPv4Network(LINK_LOCAL).subnet_of(IPv4Network(cidr))
    return AddressesPlan(cidr=cidr, but=(LINK_LOCAL,) if inside else ())
