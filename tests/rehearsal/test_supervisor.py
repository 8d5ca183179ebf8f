"""Everything that a rehearsal starts ends with it, however it ends, and its folder is gone."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread

import pytest

from constructs_pd.rehearsal import supervised as supervised_module
from constructs_pd.rehearsal import supervisor
from constructs_pd.rehearsal.errors import LeftBehindError, RehearsalError
from constructs_pd.rehearsal.supervised import Supervised
from support.processes import ROOT

# A child in a session of its own whose parent is gone, as Ray's daemons are; it ignores SIGTERM.
DETACHED = (
    "import os, signal, sys, time\n"
    "if os.fork(): os._exit(0)\n"
    "os.setsid()\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "open(sys.argv[1], 'w').write(str(os.getpid()))\n"
    "time.sleep(600)\n"
)


def written(path: Path) -> int:
    for _ in range(200):
        if path.exists() and path.read_text():
            return int(path.read_text())
        time.sleep(0.05)
    raise AssertionError(f"nothing wrote {path}")


def is_gone(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


@pytest.fixture(autouse=True)
def _short_politeness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "POLITE_SECONDS", 0.2)


def test_a_parent_that_takes_no_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised_module, "_PARENT", tmp_path / "missing")
    with pytest.raises(RehearsalError, match=r"no folder can be made in .*missing: No such file"):
        Supervised()


def test_a_supervisor_that_was_killed_is_told_of() -> None:
    supervised = Supervised()
    process = supervised.start([sys.executable, "-c", "import time; time.sleep(600)"], {}, "left")
    os.kill(supervised.process, signal.SIGKILL)
    with pytest.raises(LeftBehindError, match=rf"ended with status -9\n +end the processes.*{supervised.folder}"):
        supervised.close()
    os.kill(process, signal.SIGKILL)
    shutil.rmtree(supervised.folder)


def test_a_detached_process_that_ignores_sigterm_ends_too(tmp_path: Path) -> None:
    with Supervised() as supervised:
        started = supervised.start([sys.executable, "-c", DETACHED, str(tmp_path / "pid")], {}, "detached")
        detached = written(tmp_path / "pid")
        assert supervised.folder.is_dir()
        assert supervised.runs(detached)
        assert not supervised.runs(started)
    assert is_gone(detached)
    assert is_gone(supervised.process)
    assert not supervised.folder.exists()


def test_shared_memory_that_was_left_is_removed() -> None:
    """Of a process that is killed, as vLLM's are; other processes' stays."""
    code = (
        "import mmap, sys, time\n"
        "memory = open(sys.argv[1], 'w+b'); memory.truncate(4096)\n"
        "mapped = mmap.mmap(memory.fileno(), 4096); print('mapped', flush=True); time.sleep(600)\n"
    )
    mine, theirs = (Path(f"/dev/shm/{name}-{os.getpid()}") for name in ("mine", "theirs"))
    theirs.touch()
    with Supervised() as supervised:
        supervised.start([sys.executable, "-c", code, str(mine)], {}, "mapping")
        while "mapped" not in supervised.last_lines("mapping"):
            time.sleep(0.05)
        assert mine.exists()
    assert not mine.exists()
    assert theirs.exists()
    theirs.unlink()


def test_shared_memory_is_noted_while_a_process_lives() -> None:
    found: set[Path] = set()
    ended = Event()
    mine = Path(f"/dev/shm/noted-{os.getpid()}")
    code = (
        "import mmap, sys, time\n"
        "memory = open(sys.argv[1], 'w+b'); memory.truncate(9)\n"
        "mapped = mmap.mmap(memory.fileno(), 9); time.sleep(1)\n"
    )
    watcher = Thread(target=supervisor.watch_shared_memory, args=(found, ended, 0.01))
    watcher.start()
    subprocess.run([sys.executable, "-c", code, str(mine)], check=True, capture_output=True)
    ended.set()
    watcher.join()
    assert mine in found
    assert mine.exists()
    supervisor.remove_unused({mine})
    assert not mine.exists()


def test_an_error_of_the_rehearsal_ends_them(tmp_path: Path) -> None:
    started: list[tuple[Supervised, int]] = []

    def fails() -> None:
        with Supervised() as supervised:
            started.append((supervised, supervised.start(["sleep", "600"], dict(os.environ), "sleep")))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    ((supervised, child),) = started
    assert is_gone(child)
    assert not supervised.folder.exists()


def test_a_rehearsal_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    code = (
        "import os, sys, time\n"
        "from constructs_pd.rehearsal.supervised import Supervised\n"
        "s = Supervised()\n"
        "s.start([sys.executable, '-c', sys.argv[1], sys.argv[2]], {}, 'detached')\n"
        "open(sys.argv[3], 'w').write(str(s.process)); open(sys.argv[4], 'w').write(str(s.folder))\n"
        "time.sleep(600)\n"
    )
    files = [str(tmp_path / name) for name in ("pid", "supervisor", "folder")]
    rehearsal = subprocess.Popen([sys.executable, "-c", code, DETACHED, *files], cwd=ROOT)
    detached, supervising = written(tmp_path / "pid"), written(tmp_path / "supervisor")
    folder = Path((tmp_path / "folder").read_text())
    rehearsal.send_signal(signal.SIGKILL)
    rehearsal.wait()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not (is_gone(detached) and is_gone(supervising)):
        time.sleep(0.05)
    assert is_gone(detached)
    assert is_gone(supervising)
    assert not folder.exists()


def test_what_cannot_start_is_named() -> None:
    with Supervised() as supervised:
        with pytest.raises(RehearsalError, match="/nowhere/python cannot be started"):
            supervised.start(["/nowhere/python"], {}, "nothing")
        supervised.start([sys.executable, "-c", "print('first'); print('last')"], {}, "said")
        while "last" not in supervised.last_lines("said"):
            time.sleep(0.05)
        assert supervised.last_lines("unknown") == ""


def test_a_supervisor_that_is_gone_is_named() -> None:
    supervised = Supervised()
    os.kill(supervised.process, signal.SIGKILL)
    while not is_gone(supervised.process):
        time.sleep(0.05)
    with pytest.raises(RehearsalError, match="has ended"):
        supervised.start(["true"], {}, "true")
    with pytest.raises(LeftBehindError):
        supervised.close()
    supervised.folder.rmdir()
