"""Where Prometheus is looked for, and what is said where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.monitoring import programs


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv(programs.CACHE_VARIABLE, str(folder))
    return folder


def made(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_the_cache_comes_first(cache: Path) -> None:
    path = made(cache / "usr" / "bin", "promtool")
    assert programs.program("promtool") == path


def test_where_there_is_no_apt_get_the_path_is_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path / "bin", "promtool")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert programs.program("promtool") == path


def test_where_there_is_neither_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(programs.NoProgramError, match=r"no promtool on the PATH, .* there is no apt-get"):
        programs.program("promtool")


def test_a_download_that_fails_is_told(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("apt-get", "echo E: Unable to locate package prometheus >&2; exit 100"), ("dpkg", "exit 0")):
        made(tmp_path / "bin", name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    there = {name: str(tmp_path / "bin" / name) for name in ("apt-get", "dpkg")}
    monkeypatch.setattr("shutil.which", there.get)
    with pytest.raises(programs.NoProgramError, match="E: Unable to locate package prometheus"):
        programs.program("promtool")
    assert not cache.exists()
    assert [path.name for path in cache.parent.iterdir()] == ["bin"]
