"""On the PYTHONPATH of a rehearsal's Ray processes, which import it first of all.

Two servers listen on all addresses, without asking who calls, and have no setting for it. Here they listen on the
loopback address:

- each Serve replica of Ray 2.58.0, for other replicas (serve/_private/replica.py, `"[::]:0"`);
- the store by which PyTorch 2.11 joins the ranks of an engine, although vLLM names 127.0.0.1
  (TCPStoreLibUvBackend.cpp, makeWithPort). A caller may hand it a socket, but `tcp://` does not (rendezvous.py).

In a mock rehearsal the `vllm` stand-in becomes importable too.

The real engine's interpreter does not have this package: only the standard library may be used for it.
"""

import os
import socket
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_LOOPBACK = "127.0.0.1"
_EVERYWHERE = ("[::]:", "0.0.0.0:")


def on_loopback(add_port: Callable[[Any, str], int]) -> Callable[[Any, str], int]:
    """Return a function that adds a port of the loopback address where one of all addresses is asked for."""

    def add(server: Any, address: str) -> int:
        for prefix in _EVERYWHERE:
            if address.startswith(prefix):
                address = f"{_LOOPBACK}:{address.removeprefix(prefix)}"
        return add_port(server, address)

    return add


def store_on_loopback(store: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes a store, whose server listens on the loopback address where that is its host."""

    def make(host_name: str, port: int, **options: Any) -> Any:
        if host_name != _LOOPBACK or not options.get("is_master"):
            return store(host_name=host_name, port=port, **options)
        with socket.create_server((host_name, port)) as server:
            made = store(host_name=host_name, port=port, master_listen_fd=server.fileno(), **options)
            server.detach()  # the store closes it
            return made

    return make


# Of a module: the name in it that is changed, and how.
_CHANGES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "ray._common.tls_utils": ("add_port_to_grpc_server", on_loopback),
    "torch.distributed.rendezvous": ("TCPStore", store_on_loopback),
}


class _Finder(MetaPathFinder):
    """Changes modules as soon as they are imported."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in _CHANGES:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, *_CHANGES[name])
        return spec


class _Loader(Loader):
    def __init__(self, original: Any, name: str, change: Callable[[Any], Any]) -> None:
        self._original, self._name, self._change = original, name, change

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        created: ModuleType | None = self._original.create_module(spec)
        return created

    def exec_module(self, module: ModuleType) -> None:
        self._original.exec_module(module)
        module.__dict__[self._name] = self._change(module.__dict__[self._name])


sys.meta_path.insert(0, _Finder())

if os.environ.get("RAYLLM_VLLM_ENGINE_CLS", "").startswith("constructs_pd."):
    from constructs_pd.rehearsal.mock.vllm_stand_in import install

    install()
