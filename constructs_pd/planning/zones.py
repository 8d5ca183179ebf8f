"""Availability zones: a zone is written by name (`us-west-2a`) or by id (`usw2-az1`)."""

import re

_COMPASS = {"northeast": "ne", "northwest": "nw", "southeast": "se", "southwest": "sw"}


def is_zone_id(zone: str) -> bool:
    """Return whether the zone is written as an id rather than as a name."""
    return re.fullmatch(r"[a-z]+\d+-az\d+", zone) is not None


def zone_id_prefix(region: str) -> str:
    """Return what the ids of a region's zones begin with: `usw2` for `us-west-2`, `apne1` for `ap-northeast-1`."""
    area, *directions, number = region.split("-")
    return area + "".join(_COMPASS.get(word, word[0]) for word in directions) + number
