"""On the PYTHONPATH of a rehearsal's Ray processes, which import it first of all.

Each Serve replica of Ray 2.58.0 listens for other replicas on all addresses, without asking who calls, and has no
setting for it (serve/_private/replica.py, `"[::]:0"`): here it listens on the loopback address. In a mock rehearsal
the `vllm` stand-in becomes importable too.

The real engine's interpreter does not have this package: only the standard library may be used for it.
"""

import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_MODULE = "ray._common.tls_utils"
_EVERYWHERE = ("[::]:", "0.0.0.0:")


def on_loopback(add_port: Callable[[Any, str], int]) -> Callable[[Any, str], int]:
    """Return a function that adds a port of the loopback address where one of all addresses is asked for."""

    def add(server: Any, address: str) -> int:
        for prefix in _EVERYWHERE:
            if address.startswith(prefix):
                address = f"127.0.0.1:{address.removeprefix(prefix)}"
        return add_port(server, address)

    return add


class _Finder(MetaPathFinder):
    """Changes one function of one module as soon as it is imported."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != _MODULE:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    def __init__(self, original: Any) -> None:
        self._original = original

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        created: ModuleType | None = self._original.create_module(spec)
        return created

    def exec_module(self, module: ModuleType) -> None:
        self._original.exec_module(module)
        module.__dict__["add_port_to_grpc_server"] = on_loopback(module.__dict__["add_port_to_grpc_server"])


sys.meta_path.insert(0, _Finder())

if os.environ.get("RAYLLM_VLLM_ENGINE_CLS", "").startswith("constructs_pd."):
    from constructs_pd.rehearsal.mock.vllm_stand_in import install

    install()
