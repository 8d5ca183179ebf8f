import pytest
from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend

from constructs_pd.planning.zones import is_zone_id, zone_id_prefix


@pytest.mark.parametrize(
    ("region", "prefix"),
    [
        ("us-east-1", "use1"),
        ("us-west-2", "usw2"),
        ("ap-northeast-1", "apne1"),
        ("ap-southeast-2", "apse2"),
        ("eu-central-1", "euc1"),
        ("sa-east-1", "sae1"),
        ("us-gov-west-1", "usgw1"),
    ],
)
def test_prefix_of_a_regions_zone_ids(region: str, prefix: str) -> None:
    assert zone_id_prefix(region) == prefix


@pytest.mark.parametrize(("zone", "is_id"), [("usw2-az1", True), ("us-west-2a", False), ("usw2-az", False)])
def test_tells_an_id_from_a_name(zone: str, is_id: bool) -> None:
    assert is_zone_id(zone) is is_id


def test_prefixes_are_those_of_ec2_as_moto_carries_it() -> None:
    zones = RegionsAndZonesBackend.zones
    assert len(zones) > 30
    for region, known in zones.items():
        assert {zone.zone_id.rpartition("-az")[0] for zone in known} == {zone_id_prefix(region)}
