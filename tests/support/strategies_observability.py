"""Traces and logs that plan."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

_addresses = st.tuples(
    st.sampled_from(["http", "https"]),
    st.sampled_from(["collector.observability", "collector.example.com", "10.0.9.9", "127.0.0.1"]),
    st.integers(1, 65535),
).map(lambda parts: "{}://{}:{}".format(*parts))
_paths = st.sampled_from(["/v1/traces", "/api/v2/otlp/v1/traces"])
_ratio = {"sample_ratio": st.floats(0.000001, 1)}
tracings: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries({"otlp_endpoint": _addresses}, optional={"protocol": st.just("grpc"), **_ratio}),
    st.fixed_dictionaries(
        {"otlp_endpoint": st.tuples(_addresses, _paths).map("".join), "protocol": st.just("http")}, optional=_ratio
    ),
)
logs: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {}, optional={"encoding": st.sampled_from(["text", "json"]), "requests": st.booleans()}
)
