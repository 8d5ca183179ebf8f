"""Network interfaces of a node: which card and device carry IP traffic, and which carry EFA."""

from __future__ import annotations

from typing import Literal

from constructs_pd.planning.catalog.rows import Efa
from constructs_pd.planning.model_base import FrozenModel


class NetworkInterface(FrozenModel):
    """One interface of a launch template.

    Attributes:
        network_card: Index of the network card.
        device: Index of the device on that card.
        kind: `interface`: IP only. `efa`: IP and EFA on one device. `efa-only`: EFA without an IP address.
    """

    network_card: int
    device: int
    kind: Literal["interface", "efa", "efa-only"]


def network_interfaces(efa: Efa) -> tuple[NetworkInterface, ...]:
    """Return every interface of an instance type, the primary one first.

    One interface on card 0 carries IP and EFA together. Others are split, as EC2 advises: IP on card 0 device 0, EFA
    on card 0 device 1 where that card takes it, and on device 0 of the following cards; only the first uses an address
    of the subnet (EC2 User Guide, efa-acc-inst-types).
    """
    if efa.interfaces == 1 and efa.first_efa_card == 0:
        return (NetworkInterface(network_card=0, device=0, kind="efa"),)
    return (
        NetworkInterface(network_card=0, device=0, kind="interface"),
        *(
            NetworkInterface(network_card=card, device=1 if card == 0 else 0, kind="efa-only")
            for card in range(efa.first_efa_card, efa.first_efa_card + efa.interfaces)
        ),
    )
