"""How much of a node a worker pod takes: everything that the kubelet and the node's DaemonSets leave."""

from typing import Final

from constructs_pd.planning import defaults
from constructs_pd.planning.catalog.rows import InstanceRow

MIB_PER_GIB: Final = 1024
MILLICORES_PER_CORE: Final = 1000


def pod_cpu_cores(instance: InstanceRow) -> int:
    """Return the CPU of a worker pod, in whole cores; not positive on an instance that is too small."""
    return instance.allocatable_cpu_millicores // MILLICORES_PER_CORE - defaults.NODE_RESERVE_CPU_CORES


def pod_memory_gib(instance: InstanceRow) -> int:
    """Return the memory of a worker pod, in GiB; not positive on an instance that is too small."""
    return instance.allocatable_memory_mib // MIB_PER_GIB - defaults.NODE_RESERVE_MEMORY_GIB
