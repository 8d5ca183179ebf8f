"""The EFA interfaces of each instance type, as the template has them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from constructs_pd.planning.catalog import load_catalog
from support.specs import plan_with
from support.template import CLUSTER, launch_template, resources, synthesized

ROWS = load_catalog().instances


def interfaces(name: str) -> list[dict[str, Any]]:
    changes = {
        "model": {"source": "Qwen/Qwen3-0.6B"},
        "prefill": {"instance_type": name, "ami_id": "ami-0123456789abcdef0"},
        "decode": {"instance_type": name, "ami_id": "ami-0123456789abcdef0"},
    }
    found: list[dict[str, Any]] = launch_template(synthesized(plan_with(changes)), "decode")["NetworkInterfaces"]
    return found


def test_one_card_carries_ip_and_efa_together() -> None:
    (interface,) = interfaces("g6.8xlarge")
    del interface["Groups"]
    assert interface == {
        "NetworkCardIndex": 0,
        "DeviceIndex": 0,
        "InterfaceType": "efa",
        "DeleteOnTermination": True,
        "Description": "card 0, device 0: efa",
    }


@pytest.mark.parametrize(
    ("name", "first", "last", "count"),
    [
        ("g6e.24xlarge", (0, 1), (1, 0), 3),
        ("p4d.24xlarge", (0, 1), (3, 0), 5),
        ("p5.48xlarge", (0, 1), (31, 0), 33),
        ("p5en.48xlarge", (0, 1), (15, 0), 17),
        ("p6-b200.48xlarge", (0, 1), (7, 0), 9),
        ("p6-b300.48xlarge", (1, 0), (16, 0), 17),
    ],
)
def test_many_cards_carry_ip_on_the_first_and_efa_on_all_that_take_it(
    name: str, first: tuple[int, int], last: tuple[int, int], count: int
) -> None:
    found = interfaces(name)
    places = [(interface["NetworkCardIndex"], interface["DeviceIndex"]) for interface in found]
    kinds = [interface["InterfaceType"] for interface in found]
    assert (places[0], kinds[0]) == ((0, 0), "interface")
    assert (places[1], places[-1], len(places)) == (first, last, count)
    assert set(kinds[1:]) == {"efa-only"}


@pytest.mark.parametrize("name", ROWS)
def test_every_type_gets_all_its_efa_and_one_address(name: str) -> None:
    found = interfaces(name)
    kinds = Counter(interface["InterfaceType"] for interface in found)
    assert kinds["efa"] + kinds["efa-only"] == ROWS[name].efa.interfaces
    assert kinds["efa"] + kinds["interface"] == 1
    places = {(interface["NetworkCardIndex"], interface["DeviceIndex"]) for interface in found}
    assert len(places) == len(found)
    assert all(device < 2 for _, device in places)
    assert all(interface["DeleteOnTermination"] is True for interface in found)


def test_both_security_groups_stand_on_every_interface_the_clusters_first() -> None:
    template = synthesized(plan_with({"prefill.instance_type": "p5.48xlarge", "decode.instance_type": "p5.48xlarge"}))
    (own,) = [name for name, found in template["Resources"].items() if found["Type"] == "AWS::EC2::SecurityGroup"]
    for launch in resources(template, "AWS::EC2::LaunchTemplate"):
        for interface in launch["LaunchTemplateData"]["NetworkInterfaces"]:
            assert interface["Groups"] == [CLUSTER.security_group_id, {"Fn::GetAtt": [own, "GroupId"]}]
