"""`ray start` for a cluster of several nodes on the loopback address: `python ray_node.py ARGUMENTS`.

Ray 2.58.0 takes 127.0.0.1 for a mistake and puts the machine's address in its place, on which, or on all addresses,
its daemons then listen (services.py, resolve_ip_for_localhost). It has a switch for machines that have no other
address, RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0, which the processes below inherit; but with it no node may join another
(scripts.py), so that here it is set after Ray has read it (ray_constants.py, ENABLE_RAY_CLUSTER).

Run by the interpreter that has Ray, which need not have this package.
"""

import os
import sys
import time
from typing import Any, Final

from ray._private import services
from ray.scripts.scripts import main

#: Ray gives a raylet 30 s to register (node.py), which a busy machine with several does not manage.
REGISTER_SECONDS: Final = 300.0

#: What a rehearsal asks of the dashboard. Each module is a process (Ray 2.58.0, dashboard/head.py, where nine are on by
#: default); the other seven would take a gigabyte.
DASHBOARD_MODULES: Final = "ServeHead,StateHead"

_get_node = services.get_node
_start_ray_process = services.start_ray_process


def patient_get_node(*arguments: Any) -> Any:
    """Return what the control plane knows of this node, once it knows it."""
    deadline = time.monotonic() + REGISTER_SECONDS
    while True:
        try:
            return _get_node(*arguments)
        except RuntimeError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def start_ray_process(command: list[str], *arguments: Any, **options: Any) -> Any:
    """Start one of Ray's daemons; the dashboard with the modules that are needed."""
    if any(part.endswith("dashboard.py") for part in command):
        command = [*command, f"--modules-to-load={DASHBOARD_MODULES}"]
    return _start_ray_process(command, *arguments, **options)


if __name__ == "__main__":
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    services.get_node_ip_address = lambda address=None: "127.0.0.1"
    services.get_node = patient_get_node
    services.start_ray_process = start_ray_process
    sys.exit(main())
