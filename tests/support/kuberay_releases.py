"""The releases of KubeRay whose validation has been read."""

from typing import Final

# By release, the field of a check in kuberay_checks.yaml that has its line there.
LINES_OF: Final = {"v1.6.2": "line_before", "v1.7.0": "line"}
