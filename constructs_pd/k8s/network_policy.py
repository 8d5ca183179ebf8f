"""A planned network policy as an object of Kubernetes."""

from __future__ import annotations

from cdk8s_plus_28 import k8s
from constructs import Construct

from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.network_policy_plan import (
    AddressesPlan,
    AllowPlan,
    NetworkPolicyPlan,
    PodsPlan,
    PolicyPortsPlan,
)

# Kubernetes sets this label of every namespace to its name (Kubernetes documentation, Namespaces).
NAMESPACE_NAME = "kubernetes.io/metadata.name"


def network_policy(scope: Construct, plan: DeploymentPlan, policy: NetworkPolicyPlan) -> k8s.KubeNetworkPolicy:
    """Create it. Its construct's id is its name, which no other object of a deployment has."""
    allowed = {"Ingress": policy.isolates or bool(policy.ingress), "Egress": policy.isolates or bool(policy.egress)}
    return k8s.KubeNetworkPolicy(
        scope,
        f"policy-{policy.name}",
        metadata=k8s.ObjectMeta(name=policy.name, namespace=policy.namespace, labels=plan.labels),
        spec=k8s.NetworkPolicySpec(
            pod_selector=_selector(plan, policy.pods),
            # Said in full: without it a policy that only lets out would shut everybody out as well.
            policy_types=[kind for kind, is_there in allowed.items() if is_there],
            ingress=[
                k8s.NetworkPolicyIngressRule(from_=_peers(plan, allow), ports=_ports(allow)) for allow in policy.ingress
            ]
            or None,
            egress=[k8s.NetworkPolicyEgressRule(to=_peers(plan, allow), ports=_ports(allow)) for allow in policy.egress]
            or None,
        ),
    )


def _peers(plan: DeploymentPlan, allow: AllowPlan) -> list[k8s.NetworkPolicyPeer]:
    return [_addresses(peer) if isinstance(peer, AddressesPlan) else _pods(plan, peer) for peer in allow.peers]


def _addresses(peer: AddressesPlan) -> k8s.NetworkPolicyPeer:
    return k8s.NetworkPolicyPeer(ip_block=k8s.IpBlock(cidr=peer.cidr, except_=list(peer.but) or None))


def _pods(plan: DeploymentPlan, peer: PodsPlan) -> k8s.NetworkPolicyPeer:
    # One element with both selectors: these pods of that namespace, not either.
    namespace = None if peer.namespace is None else k8s.LabelSelector(match_labels={NAMESPACE_NAME: peer.namespace})
    pods = _selector(plan, peer) if peer.labels or peer.roles else None
    return k8s.NetworkPolicyPeer(namespace_selector=namespace, pod_selector=pods)


def _selector(plan: DeploymentPlan, pods: PodsPlan) -> k8s.LabelSelector:
    roles = k8s.LabelSelectorRequirement(key=plan.role_label, operator="In", values=list(pods.roles))
    return k8s.LabelSelector(match_labels=pods.labels or None, match_expressions=[roles] if pods.roles else None)


def _ports(allow: AllowPlan) -> list[k8s.NetworkPolicyPort]:
    return [_port(ports) for ports in allow.ports]


def _port(ports: PolicyPortsPlan) -> k8s.NetworkPolicyPort:
    return k8s.NetworkPolicyPort(
        port=k8s.IntOrString.from_number(ports.first), end_port=ports.last, protocol=ports.protocol
    )
