from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd228_emulated_reads import RULE
from support.rules import findings_of
from support.specs import FOUR_GPU_ROW

G5 = {"prefill.instance_type": "g5.8xlarge", "decode.instance_type": "g5.8xlarge"}


def test_accepts_the_reference_deployment() -> None:
    assert findings_of(RULE) == []


def test_warns_for_each_phase_with_what_tcp_would_have() -> None:
    findings = findings_of(RULE, G5)
    assert [finding.subject for finding in findings] == ["prefill.instance_type", "decode.instance_type"]
    assert all(finding.severity is Severity.WARNING for finding in findings)
    assert findings[0].message == (
        "g5.8xlarge has no RDMA read: libfabric then emulates NIXL's reads in software, at 12.5 Gbit/s for an engine "
        "as planned, where TCP would have 10.0 at best"
    )


def test_takes_unknown_for_unknown_and_not_for_yes() -> None:
    changes = {"decode.instance_type": "g6.12xlarge", "custom_instances": [FOUR_GPU_ROW]}
    (finding,) = findings_of(RULE, changes)
    assert finding.subject == "decode.instance_type"
    assert "is not known to have RDMA read" in finding.message


def test_leaves_an_unknown_type_to_its_own_rule() -> None:
    assert findings_of(RULE, {**G5, "decode.instance_type": "x"}) == []
