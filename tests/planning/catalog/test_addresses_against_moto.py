"""How many addresses of its subnet a node may hold, against EC2's own descriptions, as moto carries them."""

from __future__ import annotations

from constructs_pd.planning import defaults
from constructs_pd.planning.catalog import load_catalog
from support.ec2 import described

# One interface in use, one in reserve (aws/amazon-vpc-cni-k8s docs/eni-and-ip-target.md).
INTERFACES = 2


def test_as_many_are_counted_as_the_type_with_the_most_may_hold() -> None:
    catalog = load_catalog()
    of_an_interface = {
        name: described()[name]["NetworkInfo"]["Ipv4AddressesPerInterface"]
        for name in (*catalog.instances, *catalog.system_instances)
    }
    assert INTERFACES * max(of_an_interface.values()) == defaults.ADDRESSES_PER_NODE
