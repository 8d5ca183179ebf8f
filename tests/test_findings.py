from constructs_pd import Finding, PlanError, Severity
from constructs_pd.findings import in_order, render


def finding(code: str, severity: Severity = Severity.ERROR, **fields: str) -> Finding:
    return Finding(code, severity, fields.pop("subject", "name"), "message", "remedy", "source", **fields)


def test_renders_location_code_severity_subject_message_and_remedy() -> None:
    shown = finding("PD101", location="spec.yaml:3").render()
    assert shown == "spec.yaml:3: PD101 error name: message\n      remedy"
    assert finding("PD101").render().startswith("PD101 error name")


def test_order_is_errors_first_then_code_then_subject() -> None:
    mixed = [
        finding("PD001", Severity.WARNING),
        finding("PD300"),
        finding("PD200", subject="b"),
        finding("PD200", subject="a"),
    ]
    assert [(f.code, f.subject) for f in in_order(mixed)] == [
        ("PD200", "a"),
        ("PD200", "b"),
        ("PD300", "name"),
        ("PD001", "name"),
    ]


def test_acknowledged_warnings_are_kept_but_not_shown() -> None:
    accepted = finding("PD206", Severity.WARNING, acknowledged="tested")
    assert render([accepted]) == ""
    assert PlanError([accepted, finding("PD101")]).findings[1] is accepted


def test_the_error_counts_errors_only() -> None:
    assert str(PlanError([finding("PD101"), finding("PD206", Severity.WARNING)])).startswith("1 error, nothing")
    assert str(PlanError([finding("PD101"), finding("PD102")])).startswith("2 errors, nothing")
