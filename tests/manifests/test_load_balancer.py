"""The annotations of a load balancer, compared with the keys that the pinned controller reads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from constructs_pd.manifests.load_balancer import PREFIX, ingress_annotations
from constructs_pd.planning.catalog import load_catalog
from support.specs import CERTIFICATE, COGNITO, INTERNET, JWT, OIDC, ROOT, plan_with

CONTROLLER = load_catalog().charts["aws-load-balancer-controller"]
READ_KEYS = ROOT / "tests" / "readers" / "data" / f"aws-load-balancer-controller-{CONTROLLER.version}-annotations.txt"
TLS = {"endpoint.balancer.certificate_arn": CERTIFICATE}
LOGINS: dict[str, dict[str, str]] = {"oidc": OIDC, "cognito": COGNITO, "jwt": JWT}


def written(changes: dict[str, Any] | None = None) -> dict[str, str]:
    plan = plan_with(changes)
    assert plan.endpoint.balancer is not None
    return {
        key.removeprefix(f"{PREFIX}/"): value
        for key, value in ingress_annotations(plan, plan.endpoint.balancer).items()
    }


def attributes(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split(","))


def test_the_exact_keys_and_values_of_an_internal_one() -> None:
    found = written({"endpoint.idle_timeout_seconds": 900, "drain_seconds": 700})
    assert attributes(found.pop("load-balancer-attributes")) == {
        "idle_timeout.timeout_seconds": "900",
        "client_keep_alive.seconds": "3600",
        "routing.http.drop_invalid_header_fields.enabled": "true",
        "access_logs.s3.enabled": "false",
    }
    assert found == {
        "healthcheck-path": "/-/healthz",
        "healthcheck-port": "traffic-port",
        "listen-ports": '[{"HTTP": 80}]',
        "scheme": "internal",
        "success-codes": "200",
        "target-group-attributes": "deregistration_delay.timeout_seconds=700",
        "target-type": "ip",
    }


def test_one_on_the_internet_has_tls_and_redirects() -> None:
    found = written({"endpoint": INTERNET})
    assert found["scheme"] == "internet-facing"
    assert found["listen-ports"] == '[{"HTTP": 80}, {"HTTPS": 443}]'
    assert found["ssl-redirect"] == "443"
    assert found["certificate-arn"] == CERTIFICATE
    assert found["ssl-policy"] == "ELBSecurityPolicy-TLS13-1-2-Res-PQ-2025-09"


def test_access_logs_go_to_their_bucket() -> None:
    with_prefix = attributes(written({"endpoint": INTERNET})["load-balancer-attributes"])
    logs = {name: value for name, value in with_prefix.items() if name.startswith("access_logs")}
    assert logs == {
        "access_logs.s3.enabled": "true",
        "access_logs.s3.bucket": "balancer-logs",
        "access_logs.s3.prefix": "llm",
    }
    bucket_only = written({"endpoint.balancer.access_logs.bucket": "logs"})["load-balancer-attributes"]
    assert attributes(bucket_only)["access_logs.s3.prefix"] == ""


def test_subnets_are_written_only_where_they_are_named() -> None:
    subnets = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]
    assert written({"endpoint.subnet_ids": subnets})["subnets"] == ",".join(subnets)
    assert "subnets" not in written()


def test_people_sign_in_at_a_provider() -> None:
    found = written({**TLS, "endpoint.balancer.oidc": OIDC})
    assert found["auth-type"] == "oidc"
    assert json.loads(found["auth-idp-oidc"]) == {
        "issuer": OIDC["issuer"],
        "authorizationEndpoint": OIDC["authorization_endpoint"],
        "tokenEndpoint": OIDC["token_endpoint"],
        "userInfoEndpoint": OIDC["user_info_endpoint"],
        "secretName": "login",
    }
    assert found["auth-on-unauthenticated-request"] == "authenticate"


def test_people_sign_in_at_a_user_pool() -> None:
    found = written({**TLS, "endpoint.balancer.cognito": COGNITO})
    assert found["auth-type"] == "cognito"
    assert json.loads(found["auth-idp-cognito"]) == {
        "userPoolARN": COGNITO["user_pool_arn"],
        "userPoolClientID": "1example23456789",
        "userPoolDomain": "people",
    }


def test_programs_send_tokens() -> None:
    found = written({**TLS, "endpoint.balancer.jwt": JWT})
    assert json.loads(found["jwt-validation"]) == {"issuer": JWT["issuer"], "jwksEndpoint": JWT["jwks_endpoint"]}
    assert "auth-type" not in found


@pytest.mark.parametrize("login", [None, *LOGINS])
def test_the_controller_reads_every_key_that_is_written(login: str | None) -> None:
    subnets = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]
    changes: dict[str, Any] = {"endpoint.subnet_ids": subnets, **TLS, "endpoint.balancer.access_logs.bucket": "logs"}
    if login is not None:
        changes[f"endpoint.balancer.{login}"] = LOGINS[login]
    known = set(READ_KEYS.read_text(encoding="utf-8").split())
    assert written(changes).keys() <= known
