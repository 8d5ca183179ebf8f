"""The commands and their arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

from constructs_pd.cli import conformance, output, size
from constructs_pd.cli.explain import explain
from constructs_pd.cli.lists import list_instances, list_models, list_rules
from constructs_pd.cli.plan import plan_command
from constructs_pd.cli.rehearse import add_rehearse
from constructs_pd.cli.status import USAGE_ERROR

EXIT_STATUS: Final = "exit status: 0 without errors, 1 with errors in the specification, 2 for a wrong command"


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    stated = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = stated.run
    try:
        return command(stated)
    except output.MissingRichError as error:
        output.complaint(str(error))
        return USAGE_ERROR


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="constructs-pd",
        description="Plan the serving of one model on prefill and decode nodes of Amazon EKS.",
        epilog=EXIT_STATUS,
    )
    parser.add_argument("--version", action="version", version=f"constructs-pd {version('constructs-pd')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", title="commands")
    as_json = argparse.ArgumentParser(add_help=False)
    as_json.add_argument("--json", action="store_true", help="print JSON instead of a table")

    planning = commands.add_parser(
        "plan", parents=[as_json], help="plan a specification, or say what is wrong with it", epilog=EXIT_STATUS
    )
    planning.add_argument("specification", metavar="SPEC.yaml", type=Path)
    planning.set_defaults(run=plan_command)

    explaining = commands.add_parser("explain", help="say what a code such as PD203 means", epilog=EXIT_STATUS)
    explaining.add_argument("code", metavar="CODE", help="such as PD203")
    explaining.add_argument(
        "specification", metavar="SPEC.yaml", type=Path, nargs="?", help="show its numbers, and what is found in it"
    )
    explaining.set_defaults(run=explain)

    sizing = commands.add_parser(
        "size", parents=[as_json], help="find the nodes that serve a workload within its targets", epilog=EXIT_STATUS
    )
    size.add_options(sizing)
    sizing.set_defaults(run=size.size_command)

    checking = commands.add_parser("conformance", parents=[as_json], help="check a live OpenAI-compatible endpoint")
    conformance.add_options(checking)
    checking.set_defaults(run=conformance.conformance)

    add_rehearse(commands, as_json)

    for name, list_all, text in (
        ("models", list_models, "list the models of the catalogue with their sizes"),
        ("instances", list_instances, "list the instance types of the catalogue"),
        ("rules", list_rules, "list every code"),
    ):
        listing = commands.add_parser(name, parents=[as_json], help=text)
        listing.add_argument("text", metavar="TEXT", nargs="?", default="", help="only those whose name holds it")
        listing.set_defaults(run=list_all)
    return parser
