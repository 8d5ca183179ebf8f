"""A report for people, for programs, and for CI systems that read JUnit's XML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final
from xml.etree import ElementTree

from constructs_pd.conformance.outcome import Result, Status
from constructs_pd.conformance.run import Report

_WORDS: Final = {
    Status.PASSED: "passed",
    Status.FAILED: "FAILED",
    Status.UNSUPPORTED: "unsupported",
    Status.KNOWN_DEVIATION: "known",
}
# What XML 1.0 cannot hold, not even escaped.
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SUITE: Final = "constructs-pd conformance"


def lines_of(result: Result) -> Iterator[str]:
    """Return a result for people: a line, and below a failure what was expected and what came."""
    yield f"{result.check} {_WORDS[result.status]:<11} {result.title}"
    if result.status is Status.UNSUPPORTED:
        yield f"      {printable(result.actual)}"
    if result.status in (Status.FAILED, Status.KNOWN_DEVIATION):
        yield f"      expected: {printable(result.expected)}"
        yield f"      actual:   {printable(result.actual)}"
        if result.note:
            yield f"      {printable(result.note)}"


def summary_of(report: Report) -> str:
    """Return the counts on one line."""
    counts = ", ".join(f"{report.count(status)} {status.value.replace('_', ' ')}" for status in Status)
    return f"{report.model} at {report.base_url}: {counts} in {report.seconds:.1f} s"


def as_data(report: Report) -> dict[str, Any]:
    """Return the report as JSON values."""
    return {
        "base_url": report.base_url,
        "model": report.model,
        "conforming": report.is_conforming,
        "seconds": round(report.seconds, 3),
        "counts": {status.value: report.count(status) for status in Status},
        "results": [asdict(result) for result in report.results],
    }


def as_junit(report: Report) -> str:
    """Return the report as JUnit XML: unsupported checks and known deviations are skipped there, with the reason."""
    skipped = report.count(Status.UNSUPPORTED) + report.count(Status.KNOWN_DEVIATION)
    counts = {
        "name": _SUITE,
        "tests": str(len(report.results)),
        "failures": str(report.count(Status.FAILED)),
        "errors": "0",
        "skipped": str(skipped),
        "time": f"{report.seconds:.3f}",
    }
    suites = ElementTree.Element("testsuites", {**counts})
    suite = ElementTree.SubElement(suites, "testsuite", counts)
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in (("base_url", report.base_url), ("model", report.model)):
        ElementTree.SubElement(properties, "property", {"name": name, "value": _xml(value)})
    for result in report.results:
        _add_case(suite, result)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def printable(text: str) -> str:
    """Return text without characters that would steer a terminal: an answer may hold any."""
    return "".join(character if character.isprintable() else f"\\x{ord(character):02x}" for character in text)


def _add_case(suite: ElementTree.Element, result: Result) -> None:
    name = f"{result.check} {result.title}"
    attributes = {"classname": "conformance", "name": name, "time": f"{result.seconds:.3f}"}
    case = ElementTree.SubElement(suite, "testcase", attributes)
    if result.status is Status.FAILED:
        failure = ElementTree.SubElement(case, "failure", {"message": _xml(f"expected {result.expected}")})
        failure.text = _xml(f"expected: {result.expected}\nactual: {result.actual}")
    if result.status is Status.UNSUPPORTED:
        ElementTree.SubElement(case, "skipped", {"message": _xml(f"unsupported: {result.actual}")})
    if result.status is Status.KNOWN_DEVIATION:
        ElementTree.SubElement(case, "skipped", {"message": _xml(f"known deviation of {result.note}")})


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
