from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructs_pd import PlanError, parse_spec, plan
from constructs_pd.planning.gateway import part_of
from constructs_pd.planning.gateway_plan import GatewayPlan
from support.gateway import GATEWAY, KEY
from support.specs import changed, plan_with, reference_data


def gateway(**changes: Any) -> GatewayPlan:
    planned = plan_with({"endpoint.gateway": {**GATEWAY, **changes}}).endpoint.gateway
    assert planned is not None
    return planned


def test_without_one_there_is_none() -> None:
    assert plan_with().endpoint.gateway is None
    assert plan_with().endpoint.external_name == "qwen35-9b-serve-svc.inference.svc.cluster.local"


def test_the_endpoints_name_leads_to_it_and_the_url_stays() -> None:
    endpoint = plan_with({"endpoint.gateway": GATEWAY}).endpoint
    assert endpoint.gateway is not None
    assert endpoint.external_name == endpoint.gateway.host
    assert endpoint.gateway.host == "qwen35-9b-gateway.inference-gateway.svc.cluster.local"
    assert endpoint.url == plan_with().endpoint.url
    # An ExternalName changes no port.
    assert endpoint.url.endswith(f":{endpoint.gateway.service_port}/v1")


def test_it_lives_in_a_namespace_of_its_own() -> None:
    planned = plan_with({"endpoint.gateway": GATEWAY, "namespace": "default"})
    assert planned.endpoint.gateway is not None
    assert planned.endpoint.gateway.namespace == "default-gateway"


def test_limits_are_divided_over_the_replicas() -> None:
    planned = gateway(replicas=3, requests_per_minute=100, concurrent_requests=11)
    assert (planned.requests_per_minute, planned.concurrent_requests) == (33, 3)


@given(limit=st.integers(1, 10**6), replicas=st.integers(2, 20))
def test_together_the_replicas_never_exceed_a_limit(limit: int, replicas: int) -> None:
    assert limit - replicas < part_of(limit, replicas) * replicas <= limit


@pytest.mark.parametrize(("per_minute", "seconds"), [(2, 60), (120, 1), (60, 2), (100, 2), (14, 9)])
def test_a_client_waits_until_one_request_is_forgotten(per_minute: int, seconds: int) -> None:
    assert gateway(requests_per_minute=per_minute).retry_after_seconds == seconds


def test_time_limits_outlast_each_other() -> None:
    planned = plan_with({"endpoint.gateway": GATEWAY})
    found, timeouts = planned.endpoint.gateway, planned.timeouts
    assert found is not None
    assert found.silence_seconds > timeouts.idle_seconds
    assert found.pre_stop_seconds == timeouts.deregistration_lag_seconds
    assert found.hard_stop_seconds > timeouts.request_seconds
    assert found.termination_grace_seconds > found.pre_stop_seconds + found.hard_stop_seconds


@pytest.mark.parametrize(
    ("changes", "code", "subject"),
    [
        ({"api_keys_secret": KEY}, "PD005", "endpoint.gateway.api_keys_secret"),
        ({"api_keys": [KEY]}, "PD002", "endpoint.gateway.api_keys"),
        ({"api_keys_secret": {"secret_name": KEY}}, "PD106", "endpoint.gateway.api_keys_secret.secret_name"),
        ({"api_keys_secret": {}}, "PD003", "endpoint.gateway.api_keys_secret.secret_name"),
        ({"api_keys_secret": {"secret_name": "k", "key": "../k"}}, "PD004", "endpoint.gateway.api_keys_secret.key"),
        ({"api_keys_secret": None}, "PD003", "endpoint.gateway.api_keys_secret"),
        ({"image": None}, "PD003", "endpoint.gateway.image"),
        ({"image": "haproxy:2.8"}, "PD141", "endpoint.gateway.image"),
        ({"replicas": 1}, "PD004", "endpoint.gateway.replicas"),
        ({"requests_per_minute": 0}, "PD004", "endpoint.gateway.requests_per_minute"),
        ({"requests_per_minute": 1}, "PD142", "endpoint.gateway.requests_per_minute"),
        ({"concurrent_requests": 1}, "PD142", "endpoint.gateway.concurrent_requests"),
        ({"max_body_bytes": 10}, "PD004", "endpoint.gateway.max_body_bytes"),
    ],
)
def test_bad_input_has_one_clear_error(changes: dict[str, Any], code: str, subject: str) -> None:
    stated = changed({"gateway": dict(GATEWAY)}, {f"gateway.{name}": value for name, value in changes.items()})
    with pytest.raises(PlanError) as error:
        plan_with_values(stated)
    found = [(finding.code, finding.subject) for finding in error.value.findings if finding.severity == "error"]
    assert (code, subject) in found
    assert {where for _, where in found} == {subject}
    assert KEY not in str(error.value)


def plan_with_values(endpoint: dict[str, Any]) -> None:
    plan(parse_spec(changed(reference_data(), {"endpoint": endpoint})))
