"""Reads the catalogue's data files into typed rows. The only module that knows where they lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, TypeVar

import yaml
from pydantic import TypeAdapter

from constructs_pd.planning.catalog.rows import ImageRow, InstanceRow, KubeRayRow, KubernetesRow, ModelRow, Row

if TYPE_CHECKING:
    from constructs_pd.planning.spec import DeploymentSpec

R = TypeVar("R", bound=Row)


@dataclass(frozen=True, slots=True)
class Catalog:
    """All rows, by key: the name under which a specification asks for them."""

    instances: Mapping[str, InstanceRow]
    images: Mapping[str, ImageRow]
    models: Mapping[str, ModelRow]
    kubernetes: Mapping[str, KubernetesRow]
    kuberay: Mapping[str, KubeRayRow]

    def extended_by(self, spec: DeploymentSpec) -> Catalog:
        """Return the catalogue with the rows that the specification brings; they win over equal names."""
        return replace(
            self,
            instances={**self.instances, **_by_key(spec.custom_instances, "instance_type")},
            images={**self.images, **_by_key(spec.custom_images, "tag")},
            models={**self.models, **_by_key(spec.custom_models, "model")},
        )


@cache
def load_catalog() -> Catalog:
    """Return the built-in catalogue; the files are read once per process."""
    return Catalog(
        instances=_by_key(_read("instances.yaml", InstanceRow), "instance_type"),
        images=_by_key(_read("images.yaml", ImageRow), "tag"),
        models=_by_key(_read("models.yaml", ModelRow), "model"),
        kubernetes=_by_key(_read("kubernetes.yaml", KubernetesRow), "version"),
        kuberay=_by_key(_read("kuberay.yaml", KubeRayRow), "version"),
    )


def _read(file_name: str, row_type: type[R]) -> list[R]:
    text = files(__package__).joinpath("data", file_name).read_text(encoding="utf-8")
    return TypeAdapter(list[row_type]).validate_python(yaml.safe_load(text))  # type: ignore[valid-type]


def _by_key(rows: Iterable[R], key: str) -> dict[str, R]:
    return {getattr(row, key): row for row in rows}
