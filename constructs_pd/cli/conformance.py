"""`constructs-pd conformance`: whether a live endpoint keeps to OpenAI's API."""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from constructs_pd.cli import output
from constructs_pd.cli.arguments import positive_seconds
from constructs_pd.cli.output import Column, Group
from constructs_pd.cli.status import ERRORS, USAGE_ERROR

if TYPE_CHECKING:
    from constructs_pd.conformance.check import Check
    from constructs_pd.conformance.run import Report
    from constructs_pd.conformance.settings import Settings


def add_options(parser: ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--base-url", help="where the API begins, such as http://host:8000/v1")
    parser.add_argument("--model", help="the model to ask for, as GET /models lists it")
    parser.add_argument("--api-key-env", metavar="NAME", help="the environment variable that holds the API key")
    parser.add_argument("--only", metavar="ID", action="append", help="only this check or pattern, such as 'CF3*'")
    parser.add_argument("--list", action="store_true", help="list the checks and run none")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="also write JUnit XML")
    parser.add_argument("--ray", metavar="VERSION", help="the Ray that serves it: its known deviations are no failures")
    parser.add_argument("--vllm", metavar="VERSION", help="the vLLM that serves it, likewise")
    parser.add_argument(
        "--timeout", type=positive_seconds, default=120, metavar="SECONDS", help="of a request; default 120"
    )
    parser.add_argument(
        "--deadline", type=positive_seconds, default=900, metavar="SECONDS", help="of the run; default 900"
    )
    parser.add_argument("--concurrency", type=int, choices=range(2, 9), default=4, help="streams at once; default 4")
    parser.add_argument("--context-tokens", type=_count, metavar="N", help="the longest context; else GET /models says")
    parser.add_argument("--tokenizer", type=Path, metavar="FILE", help="the model's tokenizer.json")
    parser.add_argument("--metrics-url", metavar="URL", help="the decode engines' Prometheus page, for CF903")
    right = parser.add_mutually_exclusive_group()
    right.add_argument("--reference-url", metavar="URL", help="an endpoint with the right answers, for the canary")
    right.add_argument("--answers", type=Path, metavar="FILE", help="stored right answers, for the canary")
    right.add_argument("--store-answers", type=Path, metavar="FILE", help="store the canary's answers and stop")
    parser.add_argument("--reference-model", metavar="ID", help="the model's name at --reference-url, or in --answers")


def conformance(stated: Namespace) -> int:
    """Check an endpoint and return 0, 1 where a check failed, or 2 where it could not be checked."""
    try:
        from constructs_pd.conformance.problems import EndpointError
    except ImportError as error:
        output.complaint(str(error))
        return USAGE_ERROR
    try:
        checks = _checks(stated)
        if stated.list:
            return _list(stated, checks)
        settings = _settings(stated)
        if stated.store_answers is not None:
            _require_writable("--store-answers", stated.store_answers)
            return _store(settings, stated.store_answers)
        if stated.junit is not None:
            _require_writable("--junit", stated.junit)
        return _run(stated, settings, checks)
    except EndpointError as error:
        output.complaint(str(error))
        return USAGE_ERROR


def _run(stated: Namespace, settings: Settings, checks: tuple[Check, ...]) -> int:
    from constructs_pd.conformance.outcome import Result
    from constructs_pd.conformance.report import as_data, lines_of, summary_of
    from constructs_pd.conformance.run import run

    def show(result: Result) -> None:
        for line in lines_of(result):
            output.line(line)

    report = run(settings, checks, None if stated.json else show)
    if stated.json:
        output.as_json(as_data(report))
    else:
        output.line(summary_of(report))
    if stated.junit is not None:
        _write_junit(stated.junit, report)
    return 0 if report.is_conforming else ERRORS


def _store(settings: Settings, path: Path) -> int:
    from constructs_pd.conformance.run import store_answers

    store_answers(settings, path)
    output.line(f"stored the canary's answers in {path}")
    return 0


def _list(stated: Namespace, checks: tuple[Check, ...]) -> int:
    if stated.json:
        output.as_json([{"id": check.id, "title": check.title, "source": check.source} for check in checks])
    else:
        columns = (Column("id"), Column("what must hold", may_break=True))
        output.table(columns, [Group("", [(check.id, check.title) for check in checks])])
    return 0


def _checks(stated: Namespace) -> tuple[Check, ...]:
    from constructs_pd.conformance.checks import CHECKS
    from constructs_pd.conformance.problems import OPTION, EndpointError

    patterns = [pattern.upper() for pattern in stated.only or ["*"]]
    unknown = [pattern for pattern in patterns if not any(fnmatchcase(check.id, pattern) for check in CHECKS)]
    if unknown:
        remedy = f"name one of the {len(CHECKS)} checks, {CHECKS[0].id} to {CHECKS[-1].id}: --list"
        raise EndpointError(OPTION, "--only", f"no check matches {unknown[0]!r}", remedy)
    return tuple(check for check in CHECKS if any(fnmatchcase(check.id, pattern) for pattern in patterns))


def _settings(stated: Namespace) -> Settings:
    from constructs_pd.conformance.problems import OPTION, EndpointError
    from constructs_pd.conformance.settings import Settings

    for name in ("base_url", "model"):
        if not getattr(stated, name):
            option = f"--{name.replace('_', '-')}"
            raise EndpointError(OPTION, option, "it is missing", "state the endpoint with --base-url and --model")
    return Settings(
        base_url=stated.base_url.rstrip("/"),
        model=stated.model,
        api_key=_api_key(stated.api_key_env),
        timeout_seconds=stated.timeout,
        deadline_seconds=stated.deadline,
        concurrent_streams=stated.concurrency,
        versions=_versions(stated),
        context_tokens=stated.context_tokens,
        reference_url=stated.reference_url,
        reference_model=stated.reference_model,
        answers=stated.answers,
        metrics_url=stated.metrics_url,
        tokenizer=stated.tokenizer,
    )


def _api_key(name: str | None) -> str | None:
    from constructs_pd.conformance.problems import OPTION, EndpointError

    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    if not key:
        message = "the environment variable that it names is empty or not set"
        raise EndpointError(
            OPTION, "--api-key-env", message, "name the variable that holds the key, not the key itself"
        )
    if not (key.isascii() and key.isprintable()):
        raise EndpointError(OPTION, "--api-key-env", "the key holds characters that no HTTP header can", "see the key")
    return key


def _versions(stated: Namespace) -> dict[str, str]:
    from constructs_pd.conformance.deviations import version_of
    from constructs_pd.conformance.problems import OPTION, EndpointError

    named = {"ray": stated.ray, "vllm": stated.vllm}
    versions = {product: version for product, version in named.items() if version is not None}
    for product, version in versions.items():
        try:
            version_of(version)
        except ValueError as error:
            raise EndpointError(OPTION, f"--{product}", str(error)) from None
    return versions


def _write_junit(path: Path, report: Report) -> None:
    from constructs_pd.conformance.report import as_junit

    try:
        path.write_text(as_junit(report), encoding="utf-8")
    except OSError as error:
        raise _not_written("--junit", path, error) from None


def _require_writable(option: str, path: Path) -> None:
    """Say it now, and not after minutes."""
    try:
        was_there = path.exists()
        path.open("ab").close()
        if not was_there:
            # What the path stands for, should it be a link.
            path.resolve().unlink()
    except OSError as error:
        raise _not_written(option, path, error) from None


def _not_written(option: str, path: Path, error: OSError) -> Exception:
    from constructs_pd.conformance.problems import OPTION, EndpointError

    message = f"{path} cannot be written: {error.strerror}"
    return EndpointError(OPTION, option, message, "name a file in a folder that exists")


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text[:20]) > 0):
        raise ArgumentTypeError(f"{text!r} is no positive number of tokens")
    return int(text[:20])
