"""The control plane's programs, built once from pinned Go modules and kept outside the repository."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from constructs_pd import DeploymentSpec
from support.kuberay_releases import LINES_OF

COMPONENTS = Path(__file__).parent / "components"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "constructs-pd" / "test-cluster"
DEFAULT_VERSION: str = DeploymentSpec.model_fields["kubernetes_version"].default
KUBERAY = "github.com/ray-project/kuberay/ray-operator"
# What each module builds: a program's name by its package.
PROGRAMS = {
    "etcd": {"etcd": "go.etcd.io/etcd/server/v3"},
    "kwok": {"kwok": "sigs.k8s.io/kwok/cmd/kwok"},
    "kuberay": {"kuberay-operator": KUBERAY},
    "kubernetes": {
        name: f"k8s.io/kubernetes/cmd/{name}"
        for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
    },
}


class GoMissingError(Exception):
    """The machine has no Go."""


def kubernetes_versions() -> list[str]:
    """Return the minor versions that VERSIONS asks for: some by name, `all`, or none for the default.

    Raises:
        ValueError: It names one that cannot be built.
    """
    known = sorted(path.name.removeprefix("kubernetes-") for path in COMPONENTS.glob("kubernetes-*"))
    asked = set(os.environ.get("VERSIONS", "").replace(",", " ").split())
    if asked == {"all"}:
        return known
    unknown = sorted(asked - set(known))
    if unknown:
        raise ValueError(f"VERSIONS names {', '.join(unknown)}; there are {', '.join(known)}, or all by itself")
    return sorted(asked) or [DEFAULT_VERSION]


def module_version(component: str, module: str) -> str:
    """Return the version of a module that a component pins."""
    for line in (COMPONENTS / component / "go.mod").read_text(encoding="utf-8").splitlines():
        words = line.removeprefix("require").split()
        if words[:1] == [module] and len(words) >= 2:
            return words[1]
    raise ValueError(f"{component} does not require {module}")


def module_folder(component: str, module: str) -> Path:
    """Return where Go keeps the source of a module that a component requires."""
    done = _go(component, "mod", "download", "-json", module)
    return Path(json.loads(done.stdout)["Dir"])


def operator_source() -> Path:
    """Return the operator's source: of the checkout that KUBERAY_SOURCE names, else as Go keeps the pinned module."""
    return _checkout() or module_folder("kuberay", KUBERAY)


def operator_version() -> str:
    """Return the release of the KubeRay operator, as its source says it.

    Raises:
        ValueError: The source is of no release whose checks have been read.
    """
    constants = operator_source() / "controllers" / "ray" / "utils" / "constant.go"
    found = re.search(r'KUBERAY_VERSION = "(v[0-9.]+)"', constants.read_text(encoding="utf-8"))
    if found is None or found[1] not in LINES_OF:
        raise ValueError(f"{constants} is of none of the releases that have been read: {', '.join(LINES_OF)}")
    return found[1]


def _checkout() -> Path | None:
    """Return the operator's folder in the checkout of KubeRay that KUBERAY_SOURCE names, or none where it is not set.

    Raises:
        ValueError: It names something else.
    """
    named = os.environ.get("KUBERAY_SOURCE")
    if not named:
        return None
    folder = Path(named).resolve() / "ray-operator"
    if not (folder / "go.mod").is_file():
        raise ValueError(f"KUBERAY_SOURCE={named} is no checkout of KubeRay: it has no ray-operator/go.mod")
    return folder


def build(component: str) -> Path:
    """Return the folder of a component's programs, building them if these sources and this Go have not built them yet.

    Raises:
        GoMissingError: There is no Go.
    """
    kind = component.partition("-")[0]
    folder = CACHE / f"{component}-{_fingerprint(component)}"
    if all(os.access(folder / program, os.X_OK) for program in PROGRAMS[kind]):
        return folder
    started = time.monotonic()
    print(f"building {component} from its Go module, once ...", flush=True)
    # Built aside, so that a build which is stopped leaves nothing that looks complete.
    CACHE.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=CACHE))
    try:
        for program, package in PROGRAMS[kind].items():
            flags = f"-s -w {_version_flags(component)}"
            _go(component, "build", "-trimpath", "-ldflags", flags, "-o", str(fresh / program), package)
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    print(f"built {component} in {time.monotonic() - started:.0f} s", flush=True)
    return folder


def _version_flags(component: str) -> str:
    """Return the linker's flags that tell Kubernetes its version, as its own build does."""
    if not component.startswith("kubernetes-"):
        return ""
    version = module_version(component, "k8s.io/kubernetes")
    major, minor, _ = version.removeprefix("v").split(".")
    package = "k8s.io/component-base/version"
    values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    return " ".join(f"-X {package}.{name}={value}" for name, value in values.items())


def _fingerprint(component: str) -> str:
    """Return a name for what determines the programs: Go's version, the module's files and a checkout's own source."""
    digest = hashlib.sha256(_go(component, "version").stdout.encode())
    folder = _main_module(component)
    for name in ("go.mod", "go.sum"):
        digest.update((folder / name).read_bytes())
    for path in [] if folder.parent == COMPONENTS else sorted(folder.rglob("*.go")):
        digest.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _main_module(component: str) -> Path:
    return (_checkout() if component == "kuberay" else None) or COMPONENTS / component


def _go(component: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    go = shutil.which("go")
    if go is None:
        raise GoMissingError
    done = subprocess.run(
        [go, *arguments],
        cwd=_main_module(component),
        env={**os.environ, "GOFLAGS": "-mod=readonly -buildvcs=false", "GOWORK": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"go {' '.join(arguments[:2])} in {component} failed:\n{done.stderr}")
    return done


def main() -> int:
    """Build what the tests need, before they start and hide what is printed."""
    needed = [f"kubernetes-{DEFAULT_VERSION}"]
    try:
        if "TEST_CLUSTER_KUBECONFIG" not in os.environ:
            needed = [*(f"kubernetes-{version}" for version in kubernetes_versions()), "etcd", "kuberay", "kwok"]
            operator_version()  # refuses a checkout before anything is built
        for component in needed:
            build(component)
    except GoMissingError:
        print("make test-cluster builds a control plane from Go modules: install Go 1.26 or later", file=sys.stderr)
        return 1
    except (OSError, RuntimeError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
