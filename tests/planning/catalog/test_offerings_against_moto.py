"""Every offering row against EC2's own list of what each zone offers, as moto carries it."""

from __future__ import annotations

import gzip
import json
from importlib.resources import files

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.zones import is_zone_id, zone_id_prefix

CATALOG = load_catalog()
TYPES = {*CATALOG.instances, *CATALOG.system_instances}
OFFERINGS = files("moto").joinpath("ec2/resources/instance_type_offerings/availability-zone-id")


def offered(region: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for offer in json.loads(gzip.decompress(OFFERINGS.joinpath(f"{region}.json.gz").read_bytes())):
        types = found.setdefault(offer["Location"], set())
        if offer["InstanceType"] in TYPES:
            types.add(offer["InstanceType"])
    return found


def test_there_is_a_row_for_every_region_of_which_anything_is_known() -> None:
    assert sorted(CATALOG.offerings) == sorted(file.name.split(".")[0] for file in OFFERINGS.iterdir())


@pytest.mark.parametrize("region", CATALOG.offerings)
def test_a_row_says_what_ec2_says(region: str) -> None:
    zones = CATALOG.offerings[region].zones
    assert zones == offered(region)
    assert all(is_zone_id(zone) and zone.startswith(zone_id_prefix(region)) for zone in zones)


def test_every_type_but_those_that_are_named_is_offered_somewhere() -> None:
    somewhere = {name for row in CATALOG.offerings.values() for types in row.zones.values() for name in types}
    assert somewhere == TYPES


@pytest.mark.parametrize("region", CATALOG.offerings)
def test_every_region_offers_a_type_for_system_nodes(region: str) -> None:
    offered_here = {name for types in CATALOG.offerings[region].zones.values() for name in types}
    assert offered_here & set(CATALOG.system_instances)
