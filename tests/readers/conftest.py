"""Makes the readers' fixtures available to their own tests."""

from readers.fixtures import kuberay_crd_directory

__all__ = ["kuberay_crd_directory"]
