"""The init container that asks libfabric for the EFA adapters before an engine starts."""

from __future__ import annotations

from typing import Any, Final

# Where the EFA installer puts it, 1.49.0 in the ray-llm image (aws/deep-learning-containers@140b539,
# docker/ray_llm/Dockerfile.cuda; test/pytorch/unit/test_filesystem.py tests for the same path).
FI_INFO: Final = "/opt/amazon/efa/bin/fi_info"
# An image may do without the installer's tools: the NIXL wheel has a libfabric of its own. Without an adapter fi_info
# ends with 61, FI_ENODATA (libfabric 2.6.0, util/info.c and src/fabric.c); with one it needs no huge pages, as it opens
# no endpoint, but registers memory, the GPU's too, to see whether it can (prov/efa/src/efa_hmem.c).
_SCRIPT: Final = f"""\
if [ ! -x {FI_INFO} ]; then
  echo "{FI_INFO} is not in this image: whether libfabric finds an EFA adapter is not known."
  exit 0
fi
if ! {FI_INFO} -p efa; then
  echo "libfabric finds no EFA adapter in this pod: the hand-over would hang or go by TCP."
  echo "See that the node has EFA interfaces, that its EFA device plugin runs, and that the driver of its AMI does."
  exit 1
fi
"""


def adapter_check() -> dict[str, Any]:
    """Return the container, without image, resources and security context: it has those of the worker.

    NIXL's LIBFABRIC backend without an adapter falls back to TCP, and has hung there for 37 minutes
    (ai-dynamo/nixl#2231). A device that is allocated is not yet one that the driver and libfabric can use.
    """
    return {
        "name": "efa-check",
        # Not the image's entry point, which looks at the CUDA driver first.
        "command": ["/bin/sh", "-c", _SCRIPT],
        # What it says then stands in `kubectl describe pod`.
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
