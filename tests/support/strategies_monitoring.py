"""Monitoring and promises that plan: every field of `monitoring` and of `slo`."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.facts import gather
from constructs_pd.planning.monitoring import decode_share_seconds
from constructs_pd.planning.rules.pd183_reachable_ttft import check as ttft_check
from constructs_pd.planning.spec import DeploymentSpec
from support import strategies_text as text

_urls = st.sampled_from(["https://wiki.example.com/runbooks", "http://runbooks.internal:8080/pd/"])
_labels = text.few(text.label_keys, text.label_values)
_efa_exporters = st.fixed_dictionaries(
    {"namespace": st.sampled_from(["default", "monitoring"])},
    optional={"pod_labels": _labels, "port_name": st.sampled_from(["http", "efa-metrics"])},
)


@st.composite
def monitoring(draw: st.DrawFn) -> dict[str, Any]:
    """Return monitoring of which nothing is without effect."""
    scraping = draw(st.sampled_from(["pod_monitors", "annotations"]))
    has_rules = draw(st.booleans())
    optional: dict[str, st.SearchStrategy[Any]] = {"dcgm_exporter": st.booleans()}
    if scraping == "pod_monitors":
        optional["labels"] = _labels
        optional["efa_exporter"] = _efa_exporters
    if has_rules:
        optional["runbook_base_url"] = _urls
        optional["dashboards"] = _dashboards()
    stated = draw(st.fixed_dictionaries({}, optional=optional))
    return {"scraping": scraping, "rules": has_rules, **stated}


@st.composite
def _dashboards(draw: st.DrawFn) -> dict[str, Any]:
    folders = [{}, {"folder": "Serving"}, {"folder": "LLM 1", "folder_annotation": "grafana_folder"}]
    return {**draw(st.fixed_dictionaries({}, optional={"labels": _labels})), **draw(st.sampled_from(folders))}


@st.composite
def promises(draw: st.DrawFn) -> dict[str, Any]:
    """Return one promise or more."""
    ttft = draw(st.none() | st.floats(0.01, 2560))
    found: dict[str, Any] = {} if ttft is None else {"ttft_p95_seconds": ttft}
    if ttft is not None and draw(st.booleans()):
        # Less than the whole by what can be measured of prefill, and a rounding.
        found["ttft_decode_seconds"] = draw(st.floats(0.001, min(ttft - 0.002, 1280)))
    found |= draw(
        st.fixed_dictionaries(
            {},
            optional={"itl_p95_seconds": st.floats(0.01, 80), "availability": st.floats(0.931, 0.999999)},
        )
    )
    return found or {"availability": 0.999}


def with_a_ttft_that_can_be_divided(data: dict[str, Any]) -> dict[str, Any]:
    """Return a specification whose promise leaves time for both phases, with decode's part stated where it must be."""
    slo = data.get("slo")
    if slo is None or "ttft_p95_seconds" not in slo:
        return data
    facts = gather(DeploymentSpec.model_validate(data), load_catalog())
    assert facts.spec.slo is not None
    if decode_share_seconds(facts, facts.spec.slo) is None or any(ttft_check(facts)):
        slo["ttft_decode_seconds"] = min(slo["ttft_p95_seconds"] / 2, 1280)
    return data
