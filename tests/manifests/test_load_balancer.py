from constructs_pd.manifests.load_balancer import ingress_annotations
from support.specs import plan_with


def test_the_exact_keys_and_values() -> None:
    plan = plan_with({"endpoint.idle_timeout_seconds": 900, "drain_seconds": 60})
    assert ingress_annotations(plan) == {
        "alb.ingress.kubernetes.io/healthcheck-path": "/-/healthz",
        "alb.ingress.kubernetes.io/healthcheck-port": "traffic-port",
        "alb.ingress.kubernetes.io/listen-ports": '[{"HTTP": 80}]',
        "alb.ingress.kubernetes.io/load-balancer-attributes": "idle_timeout.timeout_seconds=900",
        "alb.ingress.kubernetes.io/scheme": "internal",
        "alb.ingress.kubernetes.io/success-codes": "200",
        "alb.ingress.kubernetes.io/target-group-attributes": "deregistration_delay.timeout_seconds=60",
        "alb.ingress.kubernetes.io/target-type": "ip",
    }


def test_subnets_are_written_only_where_they_are_named() -> None:
    subnets = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]
    annotations = ingress_annotations(plan_with({"endpoint.subnet_ids": subnets}))
    assert annotations["alb.ingress.kubernetes.io/subnets"] == ",".join(subnets)
