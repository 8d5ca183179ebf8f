"""Each way to the endpoint, with each way to tell clients from strangers there: what Kubernetes makes of it.

All cases are there at once. Their applications are said to run, so the operator makes the Service of Serve.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator
from functools import partial
from typing import Any, get_args

import pytest

from cluster import routes
from cluster.access import BALANCER_CIDR, CASES, CLIENTS, MONITORING, OPERATOR, plan_of, stated
from cluster.admission import namespace_of_level, refusal
from cluster.conftest import RUN
from cluster.control_plane import ControlPlane
from cluster.deployment import Deployment, deployment_as_written, is_head, remove_all
from cluster.kubectl import NotFoundError, Object, RefusedError, wait_for
from cluster.kubelet import missing
from cluster.nodes import fitting_nodes, system_node
from cluster.ready import READY_SECONDS, is_ready, make_secrets, start_pods
from constructs_pd import DeploymentSpec
from constructs_pd.planning.balancer import at_the_balancer
from constructs_pd.planning.spec import Endpoint
from constructs_pd.planning.spec_balancer import Balancer
from readers import helm
from support.policies import Address, Party, Pod, allowed
from support.rendered import only
from support.specs import spec_with

Cases = dict[str, Deployment]
STRANGER = Address("10.0.9.9")
CLIENT = Pod(CLIENTS, {"app": "chat"}, "10.9.1.1")
# Who is not of the deployment.
OTHERS: dict[str, Party] = {
    "client": CLIENT,
    "monitoring": Pod(MONITORING, {"app.kubernetes.io/name": "prometheus"}, "10.9.1.2"),
    "operator": Pod(OPERATOR, {"app.kubernetes.io/name": "kuberay-operator"}, "10.9.1.3"),
    "another pod": Pod("default", {"app": "notebook"}, "10.9.1.4"),
    "balancer": Address(BALANCER_CIDR.replace("0/24", "20")),
    "another address": STRANGER,
}
SERVE, GCS, DASHBOARD, METRICS = 8000, 6379, 8265, 8080
ROOM = {"cpu": "200", "memory": "800Gi"}


@pytest.fixture(scope="module")
def cases(live: ControlPlane) -> Iterator[Cases]:
    """Every case applied as the app writes it, with what the README asks for, and started."""
    if live.dashboards is None:
        pytest.skip("the operator of a cluster that is not ours asks dashboards that are not there")
    live.kubectl.warnings.clear()
    made = {
        name: deployment_as_written(plan_of(name, f"access-{RUN}-{number}"), live) for number, name in enumerate(CASES)
    }
    try:
        first, *_ = made.values()
        for each in made.values():  # registered all at once, which is faster
            first.nodes += fitting_nodes(each.plan, only(each.manifests, "RayService"))
        first.nodes += [system_node(f"us-west-2{zone}", f"access-{RUN}-{zone}", ROOM) for zone in "abc"]
        first.register_nodes()
        for each in made.values():
            live.kubectl.apply(each.manifests)
            make_secrets(each)
        for each in made.values():
            start_pods(each)
        for each in made.values():
            wait_for("ready service", partial(is_ready, each), READY_SECONDS)
        yield made
    finally:
        remove_all(made.values())


def names(pods: list[Object]) -> frozenset[str]:
    return frozenset(pod["metadata"]["name"] for pod in pods)


def workers(deployment: Deployment) -> list[Object]:
    return [pod for pod in deployment.pods() if not is_head(pod)]


def test_the_cases_cover_every_choice_of_the_specification() -> None:
    """A field or a value that is new here needs a case."""
    specs = {name: spec_with(changes) for name, changes in CASES.items()}
    exposures = get_args(Endpoint.model_fields["exposure"].annotation)
    assert {spec.endpoint.exposure for spec in specs.values()} == set(exposures)
    everything = {path for name in CASES for path in stated(name)}
    assert {f"endpoint.{name}" for name in Endpoint.model_fields} - {"endpoint.balancer"} <= everything
    assert {f"endpoint.balancer.{name}" for name in Balancer.model_fields} <= everything
    # Each balancer with each way; keys beside each other way that they go together with.
    seen = {
        (spec.endpoint.exposure, way)
        for spec in specs.values()
        for way in (*at_the_balancer(spec.endpoint), *(["keys"] if spec.endpoint.gateway else []))
    }
    at_a_balancer = {"keys", "oidc", "cognito", "jwt"}
    assert seen == {("cluster", "keys"), *((balancer, way) for balancer in exposures[1:] for way in at_a_balancer)}
    has_policies = {(spec.endpoint.gateway is not None, spec.network_policy is not None) for spec in specs.values()}
    assert len(has_policies) == 4
    asked = [name for name in DeploymentSpec.model_fields if "authentication" in name]
    assert asked == ["ray_authentication"]
    for field in asked:
        values = get_args(DeploymentSpec.model_fields[field].annotation)
        assert {getattr(spec, field) for spec in specs.values()} == set(values)


@pytest.mark.parametrize("name", CASES)
def test_a_balancer_leads_to_one_service_and_its_pods(live: ControlPlane, cases: Cases, name: str) -> None:
    deployment = cases[name]
    endpoint = deployment.plan.endpoint
    ingresses = [each for namespace in deployment.namespaces for each in live.kubectl.list("ingresses", namespace)]
    if endpoint.balancer is None:
        assert ingresses == []
        return
    (ingress,) = ingresses
    assert ingress["metadata"]["namespace"] == deployment.namespaces[-1]
    assert ingress["spec"]["ingressClassName"] == "alb"
    reached, port = routes.of_ingress(live.kubectl, ingress)
    assert port in reached.ports
    assert reached.pods == names(deployment.gateway_pods() if endpoint.gateway else workers(deployment))
    assert len(reached.pods) == (endpoint.gateway.replicas if endpoint.gateway else 2)


@pytest.mark.parametrize("name", CASES)
def test_the_name_leads_to_the_same_service(live: ControlPlane, cases: Cases, name: str) -> None:
    deployment = cases[name]
    endpoint = deployment.plan.endpoint
    reached = routes.of_name(live.kubectl, deployment.namespace, endpoint.service_name)
    assert (reached.namespace, reached.service) == (endpoint.backend_namespace, endpoint.backend_service_name)
    assert endpoint.url == f"http://{deployment.plan.name}.{deployment.namespace}.svc.cluster.local:{SERVE}/v1"
    assert reached.ports == {SERVE}
    assert reached.pods == names(deployment.gateway_pods() if endpoint.gateway else workers(deployment))
    # Behind the gateway stands Serve, by the name in its configuration.
    if endpoint.gateway:
        serve = routes.target(live.kubectl, deployment.namespace, endpoint.serve_service_name)
        assert endpoint.gateway.serve_host == f"{serve.service}.{serve.namespace}.svc.cluster.local"
        assert endpoint.gateway.serve_port in serve.ports
        assert serve.pods == names(workers(deployment))


@pytest.mark.parametrize("name", CASES)
def test_strangers_are_told_apart_where_it_is_stated(live: ControlPlane, cases: Cases, name: str) -> None:
    deployment = cases[name]
    endpoint = deployment.plan.endpoint
    kinds = ("deployments", "poddisruptionbudgets", "services", "configmaps", "serviceaccounts")
    selector = f"constructs-pd/deployment={deployment.plan.name}"
    if endpoint.gateway:
        for kind in kinds:
            found = live.kubectl.list(kind, endpoint.gateway.namespace, selector)
            assert names(found) == {endpoint.gateway.name}, kind
    if endpoint.balancer is None:
        return
    ingress = live.kubectl.get("ingress", endpoint.balancer.ingress_name, endpoint.backend_namespace)
    annotations = {key.partition("/")[2]: text for key, text in ingress["metadata"]["annotations"].items()}
    ways = {way for way in ("oidc", "cognito") if annotations.get("auth-type") == way}
    ways |= {"jwt"} if "jwt-validation" in annotations else set()
    assert ways == {way for way in ("oidc", "cognito", "jwt") if getattr(endpoint.balancer, way)}
    internet = annotations["scheme"] == "internet-facing"
    assert internet == (endpoint.balancer.scheme == "internet-facing")
    assert not internet or ways or endpoint.gateway
    if ways & {"oidc", "cognito"}:
        assert annotations["auth-on-unauthenticated-request"] == "authenticate"


def test_the_controller_may_read_the_one_secret_of_a_login(live: ControlPlane, cases: Cases) -> None:
    readers = [name for name, each in cases.items() if each.plan.endpoint.balancer and each.plan.endpoint.balancer.oidc]
    assert len(readers) >= 3
    for name in readers:
        deployment = cases[name]
        where = deployment.namespaces[-1]
        annotations = live.kubectl.get("ingress", deployment.plan.name, where)["metadata"]["annotations"]
        login = json.loads(annotations["alb.ingress.kubernetes.io/auth-idp-oidc"])["secretName"]
        for verb in ("get", "watch"):
            assert may(live, verb, f"secret/{login}", where)
        for verb, what, namespace in (
            ("get", "secrets", where),
            ("get", "secret/api-keys", where),
            ("update", f"secret/{login}", where),
            ("get", f"secret/{login}", "default"),
        ):
            assert not may(live, verb, what, namespace), (verb, what, namespace)


def may(live: ControlPlane, verb: str, what: str, namespace: str) -> bool:
    """Return whether the load balancer's controller may do this."""
    account = "system:serviceaccount:kube-system:aws-load-balancer-controller"
    try:
        return live.kubectl.run("auth", "can-i", verb, what, "--as", account, "-n", namespace).strip() == "yes"
    except RefusedError:
        return False


@pytest.mark.skipif(not helm.RUNS_HERE, reason="the CDK brings Helm for Linux on x86_64 only")
def test_the_class_is_the_charts(live: ControlPlane, cases: Cases) -> None:
    deployment = cases["internal, open"]
    (chart,) = [chart for chart in deployment.plan.charts if chart.name == "aws-load-balancer-controller"]
    found = only(helm.rendered(chart, helm.values_of(chart)), "IngressClass")
    live.kubectl.run("create", "--dry-run=server", "--validate=strict", "-f", "-", given=json.dumps(found))
    assert found["spec"]["controller"] == "ingress.k8s.aws/alb"
    ingress = live.kubectl.get("ingress", deployment.plan.name, deployment.namespace)
    assert ingress["spec"]["ingressClassName"] == found["metadata"]["name"]


@pytest.mark.parametrize("name", CASES)
def test_policies_let_through_what_the_live_pods_need_and_no_more(live: ControlPlane, cases: Cases, name: str) -> None:
    deployment = cases[name]
    plan, endpoint = deployment.plan, deployment.plan.endpoint
    policies = [each for place in deployment.namespaces for each in live.kubectl.list("networkpolicies", place)]
    where = {(each["metadata"]["namespace"], each["metadata"]["name"]) for each in policies}
    assert where == {(policy.namespace, policy.name) for policy in plan.network_policies}
    if not plan.network_policies:
        assert policies == []
        return
    parties: dict[str, list[Party]] = {name: [party] for name, party in OTHERS.items()}
    for pod in live_pods(deployment):
        parties.setdefault(pod["metadata"]["labels"]["constructs-pd/role"], []).append(party(pod))
    for policy in policies:
        assert any(isinstance(pod, Pod) and selects(policy, pod) for pods in parties.values() for pod in pods)

    def reach(role: str, port: int) -> set[str]:
        """Return who reaches every pod of a role, of whom everybody reaches all or none."""
        found = {
            name: {allowed(policies, source, pod, port) for source in sources for pod in parties[role]}
            for name, sources in parties.items()
            if name != role
        }
        assert all(len(answers) == 1 for answers in found.values())
        return {name for name, answers in found.items() if answers == {True}}

    # The ports are those that Kubernetes found behind the Services, not the plan's.
    (serve_port,) = routes.target(live.kubectl, deployment.namespace, endpoint.serve_service_name).pod_ports
    (front_port,) = routes.of_name(live.kubectl, deployment.namespace, endpoint.service_name).pod_ports
    check = {"check"} if endpoint.conformance_job else set()
    clients = {"client", *(["balancer"] if endpoint.balancer else [])}
    if endpoint.gateway:
        assert reach("gateway", front_port) == clients
    for role in ("prefill", "decode"):
        assert reach(role, serve_port) == {*check, *({"gateway"} if endpoint.gateway else clients)}
        assert reach(role, METRICS) == ({"monitoring", *check} if role == "decode" else {"monitoring"})
    assert reach("head", serve_port) == set()
    assert reach("head", DASHBOARD) == {"operator", "prefill", "decode"}
    assert reach("head", GCS) == {"prefill", "decode"}


def live_pods(deployment: Deployment) -> list[Object]:
    kubectl = deployment.control_plane.kubectl
    selector = f"constructs-pd/deployment={deployment.plan.name}"
    return [pod for namespace in deployment.namespaces for pod in kubectl.list("pods", namespace, selector)]


def party(pod: Object) -> Pod:
    return Pod(pod["metadata"]["namespace"], pod["metadata"]["labels"], pod["status"]["podIP"])


def selects(policy: Object, pod: Pod) -> bool:
    """Return whether a policy is about a pod: whether the pod is shut where that policy alone is there."""
    shut = {**policy, "spec": {"podSelector": policy["spec"]["podSelector"], "policyTypes": ["Ingress"]}}
    return not allowed([shut], STRANGER, pod, 1)


def test_pod_security_admits_each_pod_where_it_belongs_and_rays_nowhere_else(live: ControlPlane, cases: Cases) -> None:
    everything = cases["internet, keys"]
    kinds: dict[str, Object] = {}
    for pod in live_pods(everything):
        kinds[pod["metadata"]["labels"]["constructs-pd/role"]] = pod
    assert set(kinds) == {"head", "prefill", "decode", "gateway", "check"}
    own, front = everything.namespaces
    enforced = {
        each["metadata"]["name"]: each["metadata"]["labels"].get("pod-security.kubernetes.io/enforce")
        for each in live.kubectl.list("namespaces")
    }
    assert (enforced[own], enforced[front]) == ("privileged", "restricted")
    assert {role: refusal(live.kubectl, pod, own) for role, pod in kinds.items()} == dict.fromkeys(kinds, "")
    refused = {role: refusal(live.kubectl, pod, front) for role, pod in kinds.items()}
    assert (refused["gateway"], refused["check"]) == ("", "")
    for role in ("head", "prefill", "decode"):
        assert 'violates PodSecurity "restricted:latest"' in refused[role]
        assert "runAsNonRoot != true" in refused[role]
    with namespace_of_level(live.kubectl, f"access-{RUN}-baseline", "baseline") as baseline:
        assert refusal(live.kubectl, kinds["head"], baseline) == ""
        for role in ("prefill", "decode"):
            assert "IPC_LOCK" in refusal(live.kubectl, kinds[role], baseline)


@pytest.mark.parametrize("name", CASES)
def test_rays_token_is_the_operators_own_and_it_sends_it(live: ControlPlane, cases: Cases, name: str) -> None:
    deployment = cases[name]
    assert live.dashboards is not None
    (cluster,) = deployment.clusters()
    cluster_name = cluster["metadata"]["name"]
    made = live.kubectl.list("secrets", deployment.namespace, f"ray.io/cluster={cluster_name}")
    asked = live.dashboards.of_namespace(deployment.namespace)
    assert {question.port for question in asked} == {DASHBOARD}
    assert {"GET", "PUT"} == {question.method for question in asked}
    tokens = {question.token for question in asked}
    if deployment.plan.ray_authentication == "none":
        assert (made, tokens) == ([], {None})
        assert [pod for pod in deployment.pods() if token_variables(pod)] == []
        return
    (found,) = made
    assert found["metadata"]["name"] == cluster_name
    assert [owner["name"] for owner in found["metadata"]["ownerReferences"]] == [cluster_name]
    token = b64decode(found["data"]["auth_token"]).decode()
    assert len(token) > 40
    assert tokens == {f"Bearer {token}"}
    reference = {"name": cluster_name, "key": "auth_token"}
    for pod in deployment.pods():
        containers = (
            {"ray-head"} if is_head(pod) else {f"ray-{pod['metadata']['labels']['ray.io/group']}", "wait-gcs-ready"}
        )
        assert token_variables(pod) == dict.fromkeys(containers, ("token", reference))
        assert missing(live.kubectl, pod) == []


def token_variables(pod: Object) -> dict[str, tuple[str, dict[str, str]]]:
    """Return of each container that has them Ray's mode and where its token comes from."""
    found = {}
    for container in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]:
        variables: dict[str, Any] = {each["name"]: each for each in container.get("env", [])}
        if "RAY_AUTH_MODE" in variables or "RAY_AUTH_TOKEN" in variables:
            reference = variables["RAY_AUTH_TOKEN"]["valueFrom"]["secretKeyRef"]
            found[container["name"]] = (variables["RAY_AUTH_MODE"]["value"], reference)
    return found


@pytest.mark.parametrize("name", CASES)
def test_nobody_warns(live: ControlPlane, cases: Cases, name: str) -> None:
    deployment = cases[name]
    live.kubectl.apply(deployment.manifests, "--dry-run=server")
    assert live.kubectl.warnings == []
    assert deployment.warnings() == []
    assert list(deployment.operator_errors()) == []


def test_a_planted_mistake_is_seen(live: ControlPlane, cases: Cases) -> None:
    deployment = cases["internal, keys"]
    gateway = deployment.plan.endpoint.gateway
    assert gateway is not None
    ingress = live.kubectl.get("ingress", deployment.plan.name, gateway.namespace)
    ingress["metadata"]["namespace"] = deployment.namespace
    with pytest.raises(NotFoundError):
        routes.of_ingress(live.kubectl, ingress)
    service = live.kubectl.get("service", gateway.name, gateway.namespace)
    spec = {"selector": {**service["spec"]["selector"], "typo": "x"}, "ports": service["spec"]["ports"]}
    metadata = {"name": "typo", "namespace": gateway.namespace}
    live.kubectl.apply([{"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}])
    assert routes.target(live.kubectl, gateway.namespace, "typo").pods == frozenset()
    (policy,) = live.kubectl.list("networkpolicies", gateway.namespace)
    front = party(deployment.gateway_pods()[0])
    assert allowed([policy], CLIENT, front, gateway.container_port)
    policy["spec"]["ingress"][0]["ports"][0]["port"] = gateway.service_port
    assert not allowed([policy], CLIENT, front, gateway.container_port)
