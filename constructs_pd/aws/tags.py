"""AWS tags as CloudFormation lists them."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import CfnTag


def tag_list(tags: Mapping[str, str]) -> list[CfnTag]:
    """Return tags in the order of their keys."""
    return [CfnTag(key=key, value=value) for key, value in sorted(tags.items())]
