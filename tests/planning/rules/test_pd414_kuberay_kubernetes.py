from dataclasses import replace

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.facts import gather
from constructs_pd.planning.rules.pd414_kuberay_kubernetes import RULE
from support.rules import findings_of
from support.specs import spec_with

CATALOG = load_catalog()


@pytest.mark.parametrize("version", [*CATALOG.kubernetes, "1.99"])
def test_accepts_every_version_that_eks_runs(version: str) -> None:
    assert findings_of(RULE, {"kubernetes_version": version}) == []


@pytest.mark.parametrize(
    ("oldest", "newest", "found"),
    [("1.35", "1.35", 0), ("1.36", "1.37", 1), ("1.9", "1.34", 1), ("1.9", "1.100", 0)],
)
def test_compares_with_what_the_operator_was_tested_on(oldest: str, newest: str, found: int) -> None:
    row = CATALOG.kuberay["1.7.0"].model_copy(update={"kubernetes_versions": (oldest, newest)})
    facts = gather(spec_with(), replace(CATALOG, kuberay={"1.7.0": row}))
    findings = list(RULE.findings(facts))
    assert len(findings) == found
    for finding in findings:
        assert finding.message == f"1.35, and KubeRay 1.7.0 was tested with {oldest} to {newest}"


def test_leaves_an_unknown_operator_to_its_own_rule() -> None:
    assert findings_of(RULE, {"kuberay_version": "9.9.9"}) == []
