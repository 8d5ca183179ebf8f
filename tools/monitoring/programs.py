"""Where Prometheus and promtool are: unpacked from Debian's package into a cache, or on the PATH.

No root is needed, and nothing is installed: `apt-get download` fetches the package and `dpkg -x` unpacks it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

CACHE_VARIABLE: Final = "CONSTRUCTS_PD_PROMETHEUS"
_PACKAGE: Final = "prometheus"
_DOWNLOAD_SECONDS: Final = 300


class NoProgramError(Exception):
    """Prometheus is not here, and cannot be brought; the message says why."""


def program(name: str) -> Path:
    """Return the path of `prometheus` or `promtool`.

    Raises:
        NoProgramError: There is none.
    """
    cached = _cache() / "usr" / "bin" / name
    if cached.exists():
        return cached
    reason = _unpack()
    if cached.exists():
        return cached
    if found := shutil.which(name):
        return Path(found)
    raise NoProgramError(f"no {name} on the PATH, and Debian's package was not unpacked: {reason}")


def _cache() -> Path:
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get(CACHE_VARIABLE) or home / "constructs-pd" / "prometheus")


def _unpack() -> str:
    """Unpack the package into the cache, and return why that did not work."""
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        return "there is no apt-get"
    cache = _cache()
    try:
        cache.parent.mkdir(parents=True, exist_ok=True)
        # Beside the cache, to be renamed into it whole: several tests may ask at once.
        with tempfile.TemporaryDirectory(prefix="prometheus-", dir=cache.parent) as folder:
            work = Path(folder)
            _run(["apt-get", "download", _PACKAGE], work)
            (package,) = work.glob("*.deb")
            _run(["dpkg", "-x", str(package), "unpacked"], work)
            if not cache.exists():
                (work / "unpacked").rename(cache)
    except subprocess.CalledProcessError as error:
        return str(error.stderr or error).strip().splitlines()[-1]
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return str(error)
    return ""


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=_DOWNLOAD_SECONDS)
