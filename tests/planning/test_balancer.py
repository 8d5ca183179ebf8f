from __future__ import annotations

from support.specs import CERTIFICATE, INTERNET, OIDC, plan_with


def test_inside_the_cluster_there_is_none() -> None:
    assert plan_with({"endpoint": None}).endpoint.balancer is None


def test_an_internal_one_has_no_name_of_its_own() -> None:
    balancer = plan_with().endpoint.balancer
    assert balancer is not None
    assert (balancer.scheme, balancer.host, balancer.url) == ("internal", None, None)
    assert balancer.secret_reader is None


def test_one_on_the_internet_has_an_address_for_clients() -> None:
    balancer = plan_with({"endpoint": INTERNET}).endpoint.balancer
    assert balancer is not None
    assert (balancer.scheme, balancer.url) == ("internet-facing", "https://llm.example.com/v1")


def test_the_controller_may_read_the_one_secret_of_a_login() -> None:
    login = {"endpoint.balancer.certificate_arn": CERTIFICATE, "endpoint.balancer.oidc": OIDC}
    balancer = plan_with(login).endpoint.balancer
    assert balancer is not None
    assert balancer.secret_reader is not None
    assert balancer.secret_reader.secret_name == "login"
    charts = {chart.name: chart for chart in plan_with(login).charts}
    permissions = charts["aws-load-balancer-controller"].permissions
    assert permissions is not None
    assert balancer.secret_reader.service_account == permissions.service_account
    assert balancer.secret_reader.service_account_namespace == permissions.namespace
