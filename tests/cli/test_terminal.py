"""On a terminal: tables that fit it, in colour where colour is wanted, and nothing that a specification could hide."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import yaml

from constructs_pd.cli.output import MissingRichError, progress
from support.command_line import command, on_terminal
from support.specs import REFERENCE_FILE, changed, reference_data

REFERENCE = str(REFERENCE_FILE)
CODES = re.compile(r"\x1b\[[\d;]*m")
COLOURS = re.compile(r"\x1b\[[\d;]*(3[0-7]|38;)[\d;]*m")
COMMANDS = (("plan", REFERENCE), ("explain", "PD203", REFERENCE), ("models",), ("instances",), ("rules",))


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_everything_fits_the_terminal(arguments: tuple[str, ...], width: int) -> None:
    done = on_terminal(*arguments, width=width)
    assert (done.status, done.err) == (0, "")
    assert max(len(CODES.sub("", line)) for line in done.out.splitlines()) <= width


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_a_wide_terminal_shows_what_a_pipe_gets(arguments: tuple[str, ...]) -> None:
    words = [word for word in command(*arguments).out.split() if len(word) > 1]
    assert words
    shown = CODES.sub("", on_terminal(*arguments, width=400).out).split()
    # Heads of numbers take several lines, so the order of words differs.
    assert sorted(word for word in shown if len(word) > 1 and "─" not in word) == sorted(words)


def test_no_number_is_cut_on_80_columns_and_what_has_no_room_is_said() -> None:
    shown = CODES.sub("", on_terminal("models", width=80).out)
    assert "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8" in shown
    assert "253,952" in shown
    assert "no room for context tokens, attention, gated, type" in shown.replace("\n", " ")
    assert "no room" not in on_terminal("models", width=120).out
    plan = CODES.sub("", on_terminal("plan", REFERENCE, width=80).out)
    assert "=    0.39 GiB" in plan


def test_a_terminal_has_colours_unless_they_are_unwanted() -> None:
    assert COLOURS.search(on_terminal("plan", REFERENCE).out)
    assert not COLOURS.search(on_terminal("plan", REFERENCE, NO_COLOR="1").out)
    assert not CODES.search(on_terminal("plan", REFERENCE, TERM="dumb").out)
    assert "\x1b" not in command("plan", REFERENCE).out


def test_json_is_the_same_on_a_terminal() -> None:
    for arguments in (("plan", REFERENCE, "--json"), ("models", "--json")):
        assert on_terminal(*arguments) == command(*arguments)


def test_markup_is_text_and_control_characters_are_shown(tmp_path: Path) -> None:
    reason = "[red]not[/red] :smile: \x1b[2J\x07 \u202e so \xa0 é 漢"
    data = changed(reference_data(), {"acknowledge": [{"code": "PD206", "reason": reason}]})
    path = tmp_path / "spec.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    for done in (command("plan", str(path)), on_terminal("plan", str(path), width=200)):
        assert done.status == 0
        assert "[red]not[/red] :smile: \\x1b[2J\\x07 \\u202e so \xa0 é 漢" in done.out


def test_a_long_text_is_wrapped_and_kept(tmp_path: Path) -> None:
    reason = " ".join(f"word{number}" for number in range(300)) + " " + "x" * 500
    data = changed(reference_data(), {"acknowledge": [{"code": "PD206", "reason": reason}]})
    path = tmp_path / "spec.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    shown = CODES.sub("", on_terminal("plan", str(path)).out)
    assert "".join(reason.split()) in "".join(shown.split())


def test_without_rich_a_terminal_is_told_what_to_install_and_a_pipe_does_not_need_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    for arguments in COMMANDS:
        done = on_terminal(*arguments)
        assert (done.status, done.out) == (2, "")
        assert done.err == "the command line's tables need rich: pip install 'constructs-pd[cli]'\n"
        assert command(*arguments).status == 0
    assert on_terminal("plan", REFERENCE, "--json").status == 0
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with pytest.raises(MissingRichError, match="need rich"), progress():
        pass
