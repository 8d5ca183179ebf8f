"""Endpoints that plan: every exposure and way of authentication, with time limits that fit together."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from constructs_pd.planning.defaults import DRAIN_MARGIN_SECONDS, IDLE_MARGIN_SECONDS
from support import strategies_text as text
from support.strategies import sometimes, without_none
from support.strategies_gateway import gateways
from support.strategies_rows import CATALOG

_ACCOUNT = "123456789012"
_UUID = "12345678-1234-1234-1234-123456789012"
_LONGEST_GENERATION = 3540
_LEAST_DRAIN = 45
_SOUND_POLICIES = sorted(row.policy for row in CATALOG.tls_policies.values() if row.least_tls >= "1.2")
_ADDRESSES = st.sampled_from(["https://login.example.com", "https://login.example.com:8443/realms/one?a=b,c"])


def _partition(region: str) -> str:
    return {"cn": "aws-cn", "us-gov": "aws-us-gov"}.get(region.rpartition("-")[0].rpartition("-")[0], "aws")


def _logins(region: str) -> st.SearchStrategy[dict[str, Any]]:
    pool = f"arn:{_partition(region)}:cognito-idp:{region}:{_ACCOUNT}:userpool/{region}_Abc123"
    oidc = dict.fromkeys(("issuer", "authorization_endpoint", "token_endpoint", "user_info_endpoint"), _ADDRESSES)
    return st.one_of(
        st.fixed_dictionaries({"oidc": st.fixed_dictionaries({**oidc, "secret_name": text.object_names})}),
        st.fixed_dictionaries(
            {
                "cognito": st.fixed_dictionaries(
                    {
                        "user_pool_arn": st.just(pool),
                        "user_pool_client_id": st.just("1example23456789"),
                        "user_pool_domain": st.sampled_from(["people", "login.example.com"]),
                    }
                )
            }
        ),
        st.fixed_dictionaries({"jwt": st.fixed_dictionaries({"issuer": _ADDRESSES, "jwks_endpoint": _ADDRESSES})}),
    )


@st.composite
def _balancers(draw: st.DrawFn, region: str, on_the_internet: bool) -> dict[str, Any]:
    logs = st.fixed_dictionaries(
        {"bucket": st.sampled_from(["logs", "logs.example.com"])},
        optional={"prefix": st.sampled_from(["balancer", "a/b-c"])},
    )
    stated = {"access_logs": draw(sometimes(logs))}
    if not on_the_internet and not draw(st.booleans()):
        return without_none(stated)
    stated |= {
        "certificate_arn": f"arn:{_partition(region)}:acm:{region}:{_ACCOUNT}:certificate/{_UUID}",
        "host": draw(sometimes(st.sampled_from(["llm.example.com", "a.b.example.com"]))),
        "tls_policy": draw(sometimes(st.sampled_from(_SOUND_POLICIES))),
    }
    logins = _logins(region)
    return without_none(stated | (draw(logins) if on_the_internet else draw(st.just({}) | logins)))


@st.composite
def endpoints(draw: st.DrawFn, region: str) -> dict[str, Any]:
    """Return endpoints in a region; the idle timeout is long enough for the longest generation."""
    exposure = draw(st.sampled_from([None, "cluster", "internal_alb", "internet_alb"]))
    generation = draw(sometimes(st.integers(1, _LONGEST_GENERATION)))
    least_idle = (generation or 600) + IDLE_MARGIN_SECONDS
    stated = {
        "exposure": exposure,
        "longest_generation_seconds": generation,
        "idle_timeout_seconds": draw(sometimes(st.integers(least_idle, 4000))),
        "conformance_job": draw(sometimes(st.booleans())),
        "gateway": draw(sometimes(gateways())),
    }
    if exposure in ("internal_alb", "internet_alb"):
        stated["subnet_ids"] = draw(sometimes(st.lists(text.subnet_ids, min_size=2, max_size=4, unique=True)))
        stated["balancer"] = draw(_balancers(region, exposure == "internet_alb"))
        if stated["gateway"] is not None:
            stated["balancer"].pop("jwt", None)  # both would read one header
    return without_none(stated)


def drains(endpoint: dict[str, Any] | None) -> st.SearchStrategy[int | None]:
    """Return drains of nodes that are long enough for an endpoint's longest generation."""
    generation = (endpoint or {}).get("longest_generation_seconds", 600)
    return sometimes(st.integers(max(_LEAST_DRAIN, generation + DRAIN_MARGIN_SECONDS), 3600))
