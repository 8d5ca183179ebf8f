"""Gateways that plan."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import strategies as st

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.facts import gather
from constructs_pd.planning.gateway import MAX_CONNECTIONS
from constructs_pd.planning.rules.pd143_gateway_namespace import check as namespace_check
from constructs_pd.planning.rules.pd146_gateway_room import check as room_check
from constructs_pd.planning.spec import DeploymentSpec
from support import strategies_text as text

# What PD140 takes for a key or its digest.
_LONG_HEXADECIMAL = re.compile("[0-9A-Fa-f]{32}")


def _is_no_key(name: str) -> bool:
    return _LONG_HEXADECIMAL.search(name) is None


_images = st.tuples(
    st.sampled_from(["haproxy", "docker.io/library/haproxy", "123456789012.dkr.ecr.us-west-2.amazonaws.com/haproxy"]),
    st.sampled_from([":2.8", ":2.8.25", ":2.8.25-alpine", ":v2.8.25", ""]),
    text.digests,
).map(lambda parts: f"{parts[0]}{parts[1]}@{parts[2]}")


@st.composite
def gateways(draw: st.DrawFn) -> dict[str, Any]:
    """Return gateways whose limits can be divided over their replicas."""
    replicas = draw(st.integers(2, 20))
    stated = draw(
        st.fixed_dictionaries(
            {
                "api_keys_secret": st.fixed_dictionaries(
                    {"secret_name": text.object_names.filter(_is_no_key)},
                    optional={"key": text.secret_keys.filter(lambda key: key[0] != "." and _is_no_key(key))},
                ),
                "image": _images,
            },
            optional={
                "pull_secrets": st.lists(text.object_names, max_size=2, unique=True),
                "requests_per_minute": st.integers(replicas, 1_000_000),
                "concurrent_requests": st.integers(replicas, MAX_CONNECTIONS * replicas),
                "max_body_bytes": st.integers(1024, 1_073_741_824),
            },
        )
    )
    return {**stated, "replicas": replicas}


def without_gateway_that_has_no_room(data: dict[str, Any]) -> dict[str, Any]:
    """Return a specification without its gateway where that has no room beside the head, or in a name's length."""
    facts = gather(DeploymentSpec.model_validate(data), load_catalog())
    if any(namespace_check(facts)) or any(room_check(facts)):
        del data["endpoint"]["gateway"]
        if not {"oidc", "cognito", "jwt"} & data["endpoint"].get("balancer", {}).keys():
            # Nothing else tells its clients from strangers.
            data["endpoint"].pop("exposure", None)
            data["endpoint"].pop("balancer", None)
            data["endpoint"].pop("subnet_ids", None)
    return data
