"""`constructs-pd`: plans a specification, and shows what the planner knows.

Exit status: 0 without errors, 1 with errors in a specification, 2 for a command that cannot be understood.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from constructs_pd.cli import output
from constructs_pd.cli.explain import explain
from constructs_pd.cli.lists import list_instances, list_models, list_rules
from constructs_pd.cli.plan import plan_command

USAGE_ERROR = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status."""
    if find_spec("rich") is None:
        output.complaint("the command line needs rich: pip install 'constructs-pd[cli]'")
        return USAGE_ERROR
    stated = _parser().parse_args(arguments)
    status: int = stated.run(stated)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="constructs-pd", description="Plan one model on prefill and decode nodes.")
    parser.add_argument("--version", action="version", version=version("constructs-pd"))
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    as_json = argparse.ArgumentParser(add_help=False)
    as_json.add_argument("--json", action="store_true", help="print JSON instead of a table")

    planning = commands.add_parser("plan", parents=[as_json], help="plan a specification")
    planning.add_argument("specification", type=Path)
    planning.set_defaults(run=plan_command)

    explaining = commands.add_parser("explain", help="say what a code such as PD201 means")
    explaining.add_argument("code")
    explaining.add_argument("specification", type=Path, nargs="?", help="a specification to say it of")
    explaining.set_defaults(run=explain)

    for name, run, text in (
        ("models", list_models, "list the models of the catalogue"),
        ("instances", list_instances, "list the instance types of the catalogue"),
        ("rules", list_rules, "list every code"),
    ):
        listing = commands.add_parser(name, parents=[as_json], help=text)
        listing.set_defaults(run=run)
    return parser
