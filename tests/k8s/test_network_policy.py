from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from support.changes import GATEWAY as GATEWAY_FIELDS
from support.new_cluster import CHANGES
from support.order import namespaces_are_first
from support.policies import Address, Party, Pod, allowed, port_entries
from support.rendered import Manifest, as_written, whole_deployment
from support.specs import plan_with

POLICY: dict[str, Any] = {
    "network_policy": {
        "enforced_by": "vpc_cni",
        "balancer_cidrs": ["10.0.7.0/24"],
        "client_namespaces": ["applications"],
        "monitoring_namespaces": ["monitoring"],
    },
    "endpoint.conformance_job": True,
}
NAME, NAMESPACE = "qwen35-9b", "inference"


def deployments_pod(role: str, number: int = 0, name: str = NAME) -> Pod:
    labels = {"constructs-pd/deployment": name, "constructs-pd/role": role}
    if role != "check":  # KubeRay 1.7.0 common/pod.go, labelPod and BuildPod
        labels |= {"ray.io/cluster": f"{name}-abcde", "ray.io/serve": "false" if role == "head" else "true"}
    return Pod(NAMESPACE, labels, f"10.0.1.{len(role) * 10 + number}")


HEAD, PREFILL, DECODE, CHECK = (deployments_pod(role) for role in ("head", "prefill", "decode", "check"))
OTHER_DECODE = deployments_pod("decode", 1)
OPERATOR = Pod("kuberay-system", {"app.kubernetes.io/name": "kuberay-operator"})
# Somebody else's pods: beside the deployment, of another one, or with a label of the operator in another namespace.
BYSTANDER = Pod(NAMESPACE, {"app": "notebook"})
OTHER_DEPLOYMENT = deployments_pod("decode", name="other")
IMPOSTOR = Pod(NAMESPACE, OPERATOR.labels)
OTHER_OF_OPERATORS_NAMESPACE = Pod("kuberay-system", {"app": "shell"})
CLIENT = Pod("applications", {"app": "chat"})
PROMETHEUS = Pod("monitoring", {"app.kubernetes.io/name": "prometheus"})
DNS = Pod("kube-system", {"k8s-app": "kube-dns"})
BALANCER, STRANGER = Address("10.0.7.20"), Address("10.0.9.9")
GATEWAY = Pod("inference-gateway", deployments_pod("gateway").labels)
INTERNET, METADATA, POD_IDENTITY = Address("18.67.0.1"), Address("169.254.169.254"), Address("169.254.170.23")
API = Address("172.20.0.1")

GCS, DASHBOARD, SERVE, METRICS, WORKER = 6379, 8265, 8000, 8080, 10002
NIXL_PREFILL, NIXL_DECODE = 20000, 22000

# source, target, port, whether it is let through
TABLE: list[tuple[str, Party, Party, int, bool]] = [
    # the NIXL handshake, between the phases alone
    ("nixl", DECODE, PREFILL, NIXL_PREFILL, True),
    ("nixl", PREFILL, DECODE, NIXL_DECODE, True),
    ("nixl of the own phase", DECODE, OTHER_DECODE, NIXL_DECODE, False),
    ("nixl from the head", HEAD, PREFILL, NIXL_PREFILL, False),
    ("nixl from beside", BYSTANDER, PREFILL, NIXL_PREFILL, False),
    ("nixl of another deployment", OTHER_DEPLOYMENT, PREFILL, NIXL_PREFILL, False),
    ("beyond the ports of nixl", DECODE, PREFILL, NIXL_PREFILL + 2, False),
    # Ray, between the deployment's pods
    *(("ray", DECODE, HEAD, port, True) for port in (GCS, DASHBOARD)),
    *(
        ("ray", a, b, port, True)
        for a, b in ((HEAD, DECODE), (PREFILL, DECODE), (DECODE, OTHER_DECODE))
        for port in (6380, 6381, 6383, 52365, WORKER, 19999)
    ),
    ("gcs of a worker", HEAD, DECODE, GCS, False),
    *(("ray from beside", BYSTANDER, HEAD, port, False) for port in (GCS, DASHBOARD, 6380, 10001, WORKER)),
    *(("ray from a client", CLIENT, HEAD, port, False) for port in (GCS, DASHBOARD, SERVE)),
    *(("ray from the check", CHECK, HEAD, port, False) for port in (GCS, DASHBOARD)),
    ("ray client", DECODE, HEAD, 10001, False),
    # the operator
    ("dashboard", OPERATOR, HEAD, DASHBOARD, True),
    ("gcs", OPERATOR, HEAD, GCS, False),
    ("dashboard from its namespace", OTHER_OF_OPERATORS_NAMESPACE, HEAD, DASHBOARD, False),
    ("dashboard from an impostor", IMPOSTOR, HEAD, DASHBOARD, False),
    ("dashboard from the balancer", BALANCER, HEAD, DASHBOARD, False),
    ("dashboard from the gateway", GATEWAY, HEAD, DASHBOARD, False),
    # Serve
    *(("serve", source, target, SERVE, True) for source in (CLIENT, BALANCER, CHECK) for target in (PREFILL, DECODE)),
    *(("serve", source, DECODE, SERVE, False) for source in (STRANGER, BYSTANDER, PROMETHEUS, INTERNET, GATEWAY)),
    ("serve on the head", CLIENT, HEAD, SERVE, False),
    # metrics
    *(("metrics", PROMETHEUS, target, METRICS, True) for target in (HEAD, PREFILL, DECODE)),
    ("metrics for the check", CHECK, DECODE, METRICS, True),
    ("metrics of prefill for the check", CHECK, PREFILL, METRICS, False),
    *(("metrics", source, DECODE, METRICS, False) for source in (CLIENT, BALANCER, BYSTANDER, OPERATOR)),
    # out
    *(("dns", source, DNS, 53, True) for source in (HEAD, PREFILL, DECODE, CHECK)),
    *(("weights", source, INTERNET, 443, True) for source in (HEAD, PREFILL, DECODE)),
    *(
        ("out", DECODE, target, port, False)
        for target, port in (
            (INTERNET, 80),
            (INTERNET, 22),
            (METADATA, 80),
            (METADATA, 443),
            (POD_IDENTITY, 80),
            (CLIENT, 8080),
            (BYSTANDER, 80),
            (DNS, 9153),
        )
    ),
    ("the api", CHECK, API, 443, True),
    ("the metadata from the check", CHECK, METADATA, 443, False),
    ("into the check", CLIENT, CHECK, 80, False),
]


def policies_of(changes: dict[str, Any]) -> list[Manifest]:
    return [manifest for manifest in whole_deployment(plan_with(changes)) if manifest["kind"] == "NetworkPolicy"]


@pytest.fixture(scope="module")
def policies() -> list[Manifest]:
    return policies_of(POLICY)


@pytest.mark.parametrize(("what", "source", "target", "port", "passes"), TABLE)
def test_who_reaches_whom(
    policies: list[Manifest], what: str, source: Party, target: Party, port: int, passes: bool
) -> None:
    assert allowed(policies, source, target, port) is passes


def test_without_policies_everything_of_that_table_passes() -> None:
    assert policies_of({}) == []
    assert all(allowed([], source, target, port) for _, source, target, port, _ in TABLE)


def test_names_are_asked_by_both_protocols_and_of_the_node_where_that_is_stated(policies: list[Manifest]) -> None:
    local = Address("169.254.20.10")
    stated = policies_of({**POLICY, "network_policy.node_local_dns": True})
    for protocol in ("UDP", "TCP"):
        assert allowed(policies, DECODE, DNS, 53, protocol)
        assert allowed(stated, DECODE, local, 53, protocol)
    assert not allowed(policies, DECODE, local, 53, "UDP")
    assert not allowed(policies, DECODE, DNS, 443, "UDP")


def test_they_are_readable(policies: list[Manifest], yaml_file: SnapshotAssertion) -> None:
    assert len(policies) == 10
    assert policies == yaml_file


def test_each_is_named_labelled_and_says_what_it_is_about(policies: list[Manifest]) -> None:
    for policy in policies:
        metadata, spec = policy["metadata"], policy["spec"]
        assert metadata["name"].startswith(f"{NAME}-")
        assert metadata["labels"] == {"constructs-pd/deployment": NAME}
        assert spec["podSelector"]["matchLabels"] == {"constructs-pd/deployment": NAME}
        # A policy with a rule for a direction shuts that direction and no other; only one shuts without a rule.
        ruled = [kind for kind in ("Ingress", "Egress") if kind.lower() in spec]
        assert spec["policyTypes"] == (ruled or ["Ingress", "Egress"])
    assert [policy["metadata"]["name"] for policy in policies if len(policy["spec"]) == 2] == [f"{NAME}-default-deny"]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"prefill.replicas": 200, "decode.replicas": 200, "acknowledge": None},
        {"gcs_fault_tolerance.redis_address": "redis:6379", "network_policy.redis_cidrs": ["0.0.0.0/0"]},
        {"tracing.otlp_endpoint": "http://collector:4317", "network_policy.collector_cidrs": ["0.0.0.0/0"]},
        {"network_policy.balancer_cidrs": ["0.0.0.0/0"], "network_policy.kubernetes_api_cidrs": ["0.0.0.0/0"]},
    ],
)
def test_no_peer_has_more_entries_than_the_vpc_cni_keeps(changes: dict[str, Any]) -> None:
    rendered = policies_of({**POLICY, **changes})
    for pod in (HEAD, PREFILL, DECODE, CHECK):
        for direction in ("Ingress", "Egress"):
            for other in (HEAD, PREFILL, DECODE, CHECK, CLIENT, PROMETHEUS, DNS, BALANCER, INTERNET):
                # EKS user guide: at most 24 combinations of port and protocol for a range of addresses.
                assert len(set(port_entries(rendered, pod, direction, other))) <= 24


@pytest.mark.parametrize("cidr", ["0.0.0.0/0", "169.252.0.0/14", "10.0.0.0/8"])
def test_ranges_are_such_as_the_api_server_takes(cidr: str) -> None:
    # Kubernetes, pkg/apis/networking/validation: an exception lies strictly inside, an end port is not below the first.
    for policy in policies_of({**POLICY, "network_policy.egress_cidrs": [cidr]}):
        for direction, side in (("ingress", "from"), ("egress", "to")):
            for entry in policy["spec"].get(direction, []):
                assert all(1 <= port["port"] <= port.get("endPort", port["port"]) <= 65535 for port in entry["ports"])
                for block in [peer["ipBlock"] for peer in entry[side] if "ipBlock" in peer]:
                    outer = IPv4Network(block["cidr"])
                    assert all(outer.supernet_of(IPv4Network(inner)) for inner in block.get("except", []))
                    assert block["cidr"] not in block.get("except", [])


def test_a_new_clusters_own_addresses_are_the_balancers_and_the_apis() -> None:
    changes = {**CHANGES["reference"], "network_policy": {}, "endpoint.conformance_job": True}
    plan, rendered = plan_with(changes), policies_of(changes)
    assert plan.eks_cluster is not None
    private = [zone.private_cidr for zone in plan.eks_cluster.network.zones]
    (serve,) = [policy for policy in rendered if policy["metadata"]["name"].endswith("-serve")]
    blocks = [peer["ipBlock"]["cidr"] for peer in serve["spec"]["ingress"][0]["from"] if "ipBlock" in peer]
    assert blocks == private
    # A balancer is known by its addresses, which there are those of pods.
    assert allowed(rendered, Pod("somebody", {}, "10.0.1.10"), DECODE, SERVE)
    assert not allowed(with_gateway(changes), Pod("somebody", {}, "10.0.1.10"), DECODE, SERVE)
    assert allowed(rendered, CHECK, API, 443)
    assert allowed(rendered, CHECK, Address("10.0.3.4"), 443)
    assert not allowed(rendered, CHECK, INTERNET, 443)
    without = plan_with(CHANGES["reference"]).findings
    assert [finding.code for finding in plan.findings if finding not in without] == ["PD176"]


def test_redis_is_reached_from_the_head_alone() -> None:
    redis = {**POLICY, "gcs_fault_tolerance.redis_address": "rediss://redis.cache:6380"}
    outside = policies_of({**redis, "network_policy.redis_cidrs": ["10.9.0.0/24"]})
    inside = policies_of({**redis, "network_policy.redis_namespaces": ["cache"]})
    by_address = policies_of({**POLICY, "gcs_fault_tolerance.redis_address": "10.9.0.7:6380"})
    for policies, server in (
        (outside, Address("10.9.0.7")),
        (inside, Pod("cache", {})),
        (by_address, Address("10.9.0.7")),
    ):
        assert allowed(policies, HEAD, server, 6380)
        assert not allowed(policies, HEAD, server, 6379)
        assert not allowed(policies, DECODE, server, 6380)


def test_spans_reach_their_collector() -> None:
    traced = {**POLICY, "tracing.otlp_endpoint": "http://collector.observability:4317"}
    inside = policies_of({**traced, "network_policy.collector_namespaces": ["observability"]})
    outside = policies_of({**traced, "network_policy.collector_cidrs": ["10.9.0.0/24"]})
    for policies, collector in ((inside, Pod("observability", {})), (outside, Address("10.9.0.7"))):
        for source in (HEAD, PREFILL, DECODE):
            assert allowed(policies, source, collector, 4317)
            assert not allowed(policies, source, collector, 4318)
        assert not allowed(policies, CHECK, collector, 4317)
    by_https = policies_of({**POLICY, "tracing.otlp_endpoint": "https://collector.example.com:443"})
    assert by_https == policies_of(POLICY)


def test_credentials_are_reached_where_they_are_wanted() -> None:
    rendered = policies_of({**POLICY, "network_policy.credentials": ["pod_identity"]})
    assert allowed(rendered, DECODE, POD_IDENTITY, 80)
    assert not allowed(rendered, DECODE, METADATA, 80)
    assert not allowed(rendered, CHECK, POD_IDENTITY, 80)


def test_nothing_is_fetched_where_nothing_may_be() -> None:
    rendered = policies_of({**POLICY, "network_policy.egress_cidrs": []})
    assert not allowed(rendered, DECODE, INTERNET, 443)
    narrow = policies_of({**POLICY, "network_policy.egress_cidrs": ["52.216.0.0/15"]})
    assert allowed(narrow, DECODE, Address("52.217.1.1"), 443)
    assert not allowed(narrow, DECODE, INTERNET, 443)


# Selectors of Services with an address: KubeRay 1.7.0 common/service.go; EKS's add-on coredns.
SERVE_SERVICE = {"ray.io/cluster": f"{NAME}-abcde", "ray.io/serve": "true"}
DNS_SERVICE = {"k8s-app": "kube-dns"}


def reaches_service(policies: list[Manifest], source: Pod, namespace: str, selector: dict[str, str], port: int) -> bool:
    """Return whether the VPC CNI lets a packet out to a Service: some labels of a peer stand in its selector."""
    # To the controller a Service's selector is what a pod's labels are to Kubernetes; its address is in no ipBlock.
    service = Pod(namespace, selector, "172.20.9.9")
    out = [
        {**policy, "spec": {**policy["spec"], "policyTypes": ["Egress"]}}
        for policy in policies
        if "Egress" in policy["spec"]["policyTypes"]
    ]
    return allowed(out, source, service, port) or allowed(out, source, service, port, "UDP")


def test_the_vpc_cni_lets_out_to_the_addresses_of_services(policies: list[Manifest]) -> None:
    for source in (HEAD, PREFILL, DECODE, CHECK):
        assert reaches_service(policies, source, "kube-system", DNS_SERVICE, 53)
    assert reaches_service(policies, CHECK, NAMESPACE, SERVE_SERVICE, SERVE)
    assert reaches_service(with_gateway(POLICY), GATEWAY, NAMESPACE, SERVE_SERVICE, SERVE)
    assert not reaches_service(policies, CHECK, NAMESPACE, {"app": "notebook"}, SERVE)


def with_gateway(changes: dict[str, Any]) -> list[Manifest]:
    """Return the policies of a deployment whose clients reach a gateway."""
    return policies_of({**changes, "endpoint.gateway": GATEWAY_FIELDS})


def test_a_gateway_alone_reaches_serve_and_clients_reach_it_alone() -> None:
    rendered = with_gateway(POLICY)
    assert allowed(rendered, GATEWAY, DECODE, SERVE)
    assert allowed(rendered, GATEWAY, DNS, 53, "UDP")
    for source in (CLIENT, BALANCER):
        assert allowed(rendered, source, GATEWAY, 8080)
        assert not allowed(rendered, source, DECODE, SERVE)
    assert not allowed(rendered, BYSTANDER, GATEWAY, 8080)
    assert not allowed(rendered, GATEWAY, HEAD, DASHBOARD)
    assert not allowed(rendered, GATEWAY, INTERNET, 443)
    assert not allowed(rendered, CHECK, GATEWAY, 8080)  # it has no key
    assert allowed(rendered, CHECK, DECODE, SERVE)
    # Of the deployment's namespace, not of a namespace of the same gateway's name.
    assert not allowed(rendered, Pod("elsewhere", GATEWAY.labels), DECODE, SERVE)


def test_nothing_is_written_before_its_namespace() -> None:
    written = as_written(plan_with({**POLICY, "endpoint.gateway": GATEWAY_FIELDS}))
    policies = [manifest for manifest in written if manifest["kind"] == "NetworkPolicy"]
    assert {policy["metadata"]["namespace"] for policy in policies} == {NAMESPACE, f"{NAMESPACE}-gateway"}
    assert namespaces_are_first(written) == []
