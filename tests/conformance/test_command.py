"""`constructs-pd conformance`: what it prints and writes, and its exit status."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from constructs_pd.cli.main import main
from constructs_pd.conformance.checks import CHECKS
from constructs_pd.conformance.deviations import known_deviations
from constructs_pd.conformance.outcome import CheckFailedError, Result, Status
from constructs_pd.conformance.problems import PROBLEMS
from constructs_pd.conformance.report import as_junit, lines_of
from constructs_pd.conformance.run import Report
from support.openai_stub import MODEL, Fault, Stub, running
from support.processes import python


def command(url: str, *options: str) -> int:
    return main(["conformance", "--base-url", url, "--model", MODEL, *options])


def test_a_conforming_endpoint(capsys: pytest.CaptureFixture[str]) -> None:
    with running(Stub()) as url:
        assert command(url) == 0
    *lines, summary = capsys.readouterr().out.splitlines()
    assert lines[0] == "CF101 passed      GET /models lists the model as an object of type model"
    assert re.search(r"stub at http://\S+: \d+ passed, 0 failed, 4 unsupported, 0 known deviation in \S+ s", summary)


def test_a_failure_says_what_was_expected_and_what_came(capsys: pytest.CaptureFixture[str]) -> None:
    with running(Stub(frozenset({Fault.NO_CREATED}))) as url:
        assert command(url, "--only", "CF10*") == 1
    title, expected, actual, note = capsys.readouterr().out.splitlines()[1:5]
    assert title == "CF102 FAILED      Every entry of GET /models says when the model was created, as a Unix time"
    assert (expected, actual) == ("      expected: created as a whole number", "      actual:   created: None")
    assert note.startswith("      known only of ray 2.58.0: an entry of GET /models has no created (ModelCard in ")
    assert note.endswith("; --ray VERSION says what serves it")


@pytest.mark.parametrize(("version", "status"), [("2.58.0", 0), ("2.57.9", 1), ("2.59.0", 1)])
def test_a_deviation_is_known_of_its_versions_only(
    version: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(Stub(frozenset({Fault.NO_CREATED}))) as url:
        assert command(url, "--only", "CF102", "--ray", version) == status
    assert ("CF102 known " in capsys.readouterr().out) is (status == 0)


def test_another_answer_than_the_known_one_is_a_failure() -> None:
    with running(Stub(frozenset({Fault.UNKNOWN_MODEL_FORM}))) as url:
        assert command(url, "--only", "CF702", "--ray", "2.58.0") == 1


def test_a_token_that_a_parser_withholds_is_known_and_text_without_its_log_probability_is_not() -> None:
    for fault, status in ((Fault.STREAMED_TOKEN_WITHHELD, 0), (Fault.STREAMED_LOGPROB_MISSING, 1)):
        with running(Stub(frozenset({fault}))) as url:
            assert command(url, "--only", "CF504", "--vllm", "0.26.0") == status


@pytest.mark.parametrize(("seen", "known"), [("of 0", False), ("of 1", False), ("of 4", True), ("of 7", True)])
def test_a_stream_that_loses_all_log_probabilities_but_one_is_no_known_deviation(seen: str, known: bool) -> None:
    failure = CheckFailedError("log probabilities of 8 tokens", seen)
    assert any(row.explains("CF504", failure) for row in known_deviations()) is known


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    with running(Stub(frozenset({Fault.NO_DONE}))) as url:
        assert command(url, "--json", "--only", "CF30*") == 1
    data = json.loads(capsys.readouterr().out)
    assert data["counts"] == {"passed": 8, "failed": 1, "unsupported": 0, "known_deviation": 0}
    assert data["conforming"] is False
    failed = next(result for result in data["results"] if result["status"] == "failed")
    assert (failed["check"], failed["expected"]) == ("CF302", "data: [DONE] at the end")


def test_the_list_needs_no_endpoint(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "--list", "--only", "cf9*"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["id", "CF901", "CF902", "CF903"]
    assert main(["conformance", "--list", "--json"]) == 0
    assert [check["id"] for check in json.loads(capsys.readouterr().out)] == [check.id for check in CHECKS]


def test_an_endpoint_must_be_stated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "--model", "stub"]) == 2
    assert capsys.readouterr().err.startswith("CF008 error --base-url: it is missing")


def test_ids_are_unique_ordered_and_not_those_of_problems() -> None:
    ids = [check.id for check in CHECKS]
    assert ids == sorted(set(ids))
    assert all(re.fullmatch(r"CF[1-9]\d\d", check.id) for check in CHECKS)
    assert [problem.code for problem in PROBLEMS] == [f"CF00{number}" for number in range(1, 10)]


def test_every_known_deviation_is_of_a_check_and_has_a_source() -> None:
    for row in known_deviations():
        assert row.check in {check.id for check in CHECKS}
        assert re.compile(row.answers).pattern
        # A file that shows it, since what was measured once may be anything's doing.
        assert re.search(r"\S+\.py\b", row.source), row


def test_junit_is_what_ci_systems_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.xml"
    faults = frozenset({Fault.NO_DONE, Fault.NO_CREATED})
    with running(Stub(faults)) as url:
        assert command(url, "--junit", str(path), "--ray", "2.58.0") == 1
    assert path.read_text(encoding="utf-8").startswith("<?xml version='1.0' encoding='utf-8'?>\n<testsuites ")
    suites = ElementTree.parse(path).getroot()
    (suite,) = suites.findall("testsuite")
    cases = suite.findall("testcase")
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": str(len(CHECKS)),
        "failures": "1",
        "errors": "0",
        "skipped": str(len(suite.findall("testcase/skipped"))),
    }
    assert len(cases) == len(CHECKS)
    for case in cases:
        assert case.attrib.keys() == {"classname", "name", "time"}
        assert float(case.attrib["time"]) >= 0
        assert [child.tag for child in case] in ([], ["failure"], ["skipped"])
    (failure,) = suite.findall("testcase/failure")
    assert failure.get("message") == "expected data: [DONE] at the end"
    known = [skipped.get("message") or "" for skipped in suite.findall("testcase/skipped")]
    assert any(message.startswith("known deviation of ray 2.58.0: ") for message in known)
    other = tmp_path / "other.xml"
    assert command("http://127.0.0.1:1", "--junit", str(other)) == 2
    assert not other.exists()


def test_characters_that_xml_or_a_terminal_cannot_bear_are_replaced() -> None:
    result = Result("CF101", "title", Status.FAILED, "a", "bell \x07, escape \x1b[31m & <tag>", 0.1)
    report = Report("http://host/v1", "m", (result,), 0.1)
    found = ElementTree.fromstring(as_junit(report)).find("testsuite/testcase/failure")
    assert found is not None
    assert found.text == "expected: a\nactual: bell \ufffd, escape \ufffd[31m & <tag>"
    assert "\x1b" not in "".join(lines_of(result))


def test_a_report_that_cannot_be_written_is_said_before_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    stub = Stub()
    with running(stub) as url:
        assert command(url, "--only", "CF101", "--junit", "/no/such/folder/report.xml") == 2
    assert stub.requests == 0
    assert "CF008 error --junit: /no/such/folder/report.xml cannot be written" in capsys.readouterr().err


def test_a_scheme_in_capitals_is_one_too(capsys: pytest.CaptureFixture[str]) -> None:
    with running(Stub()) as url:
        # CF607 asks beside the API too.
        assert command(url.replace("http", "HTTP"), "--only", "CF60*") == 0
    assert "CF607 passed" in capsys.readouterr().out


def test_a_report_may_be_written_through_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "report.xml", tmp_path / "link"
    link.symlink_to(target)
    assert command("http://127.0.0.1:1", "--junit", str(link)) == 2
    assert link.is_symlink()
    assert not target.exists()
    with running(Stub()) as url:
        assert command(url, "--only", "CF101", "--junit", str(link)) == 0
    assert link.is_symlink()
    assert target.exists()


@pytest.mark.parametrize("missing", ["openai", "httpx"])
def test_a_missing_extra_is_named_with_the_command_that_installs_it(missing: str) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from constructs_pd.cli.main import main\n"
        "sys.exit(main(['conformance', '--list']))"
    )
    done = python("-c", code)
    assert done.returncode == 2
    assert done.stderr == f"the conformance checks need {missing}: pip install 'constructs-pd[conformance]'\n"


@pytest.mark.parametrize("option", ["--timeout", "--deadline"])
@pytest.mark.parametrize("value", ["0", "-1", "inf", "nan", "soon"])
def test_a_time_that_is_none(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command("http://127.0.0.1:1/v1", f"{option}={value}")
    assert "is no positive number of seconds" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--timeout", "--deadline"])
@pytest.mark.parametrize("value", ["604801", "1e10", "1e300"])
def test_a_time_that_nobody_waits(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command("http://127.0.0.1:1/v1", f"{option}={value}")
    assert f"{value} s are more than a week, which has 604800 s" in capsys.readouterr().err


def test_the_longest_time_can_be_waited() -> None:
    with running(Stub()) as url:
        assert command(url, "--only", "CF10*", "--timeout=604800", "--deadline=604800") == 0


@pytest.mark.parametrize("value", ["0", "-3", "1.5", "many", "\u0663"])
def test_a_number_of_tokens_that_is_none(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command("http://127.0.0.1:1/v1", f"--context-tokens={value}")
    assert "is no positive number of tokens" in capsys.readouterr().err
