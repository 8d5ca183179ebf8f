"""The two engines of a rehearsal: where they are installed, and what their processes must see."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.deployment_plan import VersionsPlan
from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.mock import vllm_stand_in

EngineName = Literal["vllm", "mock"]

BUILD_COMMAND: Final = "make rehearse-environment"
#: Overrides where the real engine's environment is.
ENVIRONMENT_VARIABLE: Final = "CONSTRUCTS_PD_ENGINE"
_SITE: Final = Path(__file__).parent / "site"

# Of the caller's environment; nothing else of it reaches Ray, so that a rehearsal is the same for everyone.
_PASSED_ON: Final = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TZ", "USER")

# Measured on 2026-11-30, 2 cores, as summed RSS; docs/rehearsal.md.
GIB_PER_ENGINE: Final = {"vllm": 3.0, "mock": 0.3}
GIB_PER_NODE: Final = 0.5
GIB_OF_HEAD: Final = 1.5


@dataclass(frozen=True)
class Engine:
    """An engine that can be started.

    Attributes:
        name: Its name on the command line.
        python: The interpreter that has Ray, and vLLM if it is the real one.
        environment: Environment variables of every process.
    """

    name: EngineName
    python: Path
    environment: Mapping[str, str]


def engine_folder() -> Path:
    """Return where the real engine's environment is, or would be."""
    stated = os.environ.get(ENVIRONMENT_VARIABLE)
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(stated).absolute() if stated else Path(cache).absolute() / "constructs-pd" / "engine"


def engine(name: EngineName, vllm_version: str) -> Engine:
    """Return an engine.

    Args:
        name: Which.
        vllm_version: The vLLM of the plan's image, whose argument names the mock accepts.

    Raises:
        RehearsalError: It is not installed.
    """
    return _real() if name == "vllm" else _mock(vllm_version)


def other_versions(chosen: Engine, versions: VersionsPlan) -> list[str]:
    """Say of Ray, vLLM and NIXL where the engine's environment has another version than the plan's image."""
    planned = {"ray": versions.ray}
    if chosen.name == "vllm":
        planned |= {"vllm": versions.vllm, "nixl": versions.nixl}
    packages = next((chosen.python.parent.parent / "lib").glob("python3*/site-packages"), None)
    if packages is None:
        return []
    found = {name: sorted(packages.glob(f"{name}-*.dist-info")) for name in planned}
    installed = {name: paths[0].name.removesuffix(".dist-info").split("-")[1] for name, paths in found.items() if paths}
    return [
        f"this environment has {name} {version}, the plan's image {planned[name]}: their differences are not shown"
        for name, version in installed.items()
        if version.split("+")[0] != planned[name]
    ]


def _real() -> Engine:
    folder = engine_folder()
    python = folder / "bin" / "python"
    if not (folder / ".ready").exists() or not python.exists():
        raise RehearsalError(
            f"the real engine has no environment in {folder}",
            f"build it with `{BUILD_COMMAND}` in a checkout of constructs-pd (about 7 GB, minutes), or rehearse with "
            "--engine mock",
        )
    environment = {
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": "1",
        # NIXL's UCX listens on the devices that it may use, and on nothing else.
        "UCX_NET_DEVICES": "lo",
        "UCX_TLS": "tcp,sm,self",
        "GLOO_SOCKET_IFNAME": "lo",
    }
    return Engine("vllm", python, {**_passed_on(folder / "bin"), **environment})


def _mock(vllm_version: str) -> Engine:
    missing = [module for module in ("ray.serve", "fastapi", "jinja2", "python_multipart") if not _has(module)]
    if missing:
        raise RehearsalError(
            f"the mock engine needs {', '.join(missing)}, which this environment does not have",
            "install 'ray[serve]==2.58.0' 'fastapi<0.137' fsspec httpx jinja2 numpy pyarrow python-multipart, or in a "
            "checkout of constructs-pd: make rehearse ARGS='--engine mock'",
        )
    names = load_catalog().engine_arguments[vllm_version]
    environment = {
        "RAYLLM_VLLM_ENGINE_CLS": "constructs_pd.rehearsal.mock.engine.MockEngine",
        vllm_stand_in.ENGINE_ARGUMENTS_VARIABLE: ",".join(names.engine),
        vllm_stand_in.FRONTEND_ARGUMENTS_VARIABLE: ",".join(names.frontend),
    }
    return Engine("mock", Path(sys.executable), {**_passed_on(Path(sys.executable).parent), **environment})


def _passed_on(programs: Path) -> dict[str, str]:
    found = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {**found, "PYTHONPATH": str(_SITE), "PATH": f"{programs}:{found.get('PATH', os.defpath)}"}


def _has(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
