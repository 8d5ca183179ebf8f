"""The control plane's programs, built once from pinned Go modules and kept outside the repository."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from constructs_pd import DeploymentSpec

COMPONENTS = Path(__file__).parent / "components"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "constructs-pd" / "test-cluster"
DEFAULT_VERSION: str = DeploymentSpec.model_fields["kubernetes_version"].default
# What each module builds: a program's name by its package.
PROGRAMS = {
    "etcd": {"etcd": "go.etcd.io/etcd/server/v3"},
    "kwok": {"kwok": "sigs.k8s.io/kwok/cmd/kwok"},
    "kuberay": {"kuberay-operator": "github.com/ray-project/kuberay/ray-operator"},
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
    asked = os.environ.get("VERSIONS", "").replace(",", " ").split()
    if asked == ["all"]:
        return known
    unknown = sorted(set(asked) - set(known))
    if unknown:
        raise ValueError(f"VERSIONS names {', '.join(unknown)}; there are {', '.join(known)}, and all")
    return asked or [DEFAULT_VERSION]


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


def build(component: str) -> Path:
    """Return the folder of a component's programs, building them if these sources and this Go have not built them yet.

    Raises:
        GoMissingError: There is no Go.
    """
    kind = component.partition("-")[0]
    folder = CACHE / f"{component}-{_fingerprint(component)}"
    if all((folder / program).is_file() for program in PROGRAMS[kind]):
        return folder
    started = time.monotonic()
    print(f"building {component} from its Go module, once ...", flush=True)
    # Built aside, so that a build which is stopped leaves nothing that looks complete.
    fresh = folder.with_name(f"{folder.name}.{os.getpid()}")
    fresh.mkdir(parents=True)
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
    """Return a name for what determines the programs: the module's files and Go's version."""
    digest = hashlib.sha256(_go(component, "version").stdout.encode())
    for name in ("go.mod", "go.sum"):
        digest.update((COMPONENTS / component / name).read_bytes())
    return digest.hexdigest()[:12]


def _go(component: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    go = shutil.which("go")
    if go is None:
        raise GoMissingError
    done = subprocess.run(
        [go, *arguments],
        cwd=COMPONENTS / component,
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
        for component in needed:
            build(component)
    except GoMissingError:
        print("make test-cluster builds a control plane from Go modules: install Go 1.26 or later", file=sys.stderr)
        return 1
    except (RuntimeError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
