"""Where a construct stands, so that another of its kind for the same cluster is found."""

from __future__ import annotations

from typing import TypeVar

from aws_cdk import Stack, Stage
from constructs import Construct

Place = tuple[str, str, str]
C = TypeVar("C", bound=Construct)


def place_of(construct: Construct, cluster_name: str) -> Place:
    """Return account, region and cluster; the app may have more clusters, such as one per stage or region."""
    return (Stack.of(construct).account, Stack.of(construct).region, cluster_name)


def neighbours(construct: C, place: Place) -> list[C]:
    """Return the constructs of the same kind at the same place; they keep it as `_place` once they are complete."""
    root = Stage.of(construct) or construct.node.root
    found = [other for other in root.node.find_all() if isinstance(other, type(construct))]
    return [other for other in found if getattr(other, "_place", None) == place]
