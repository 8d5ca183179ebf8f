"""Two instance types in us-west-2, of which one zone lacks the second (EC2's offerings in moto 5.2.5)."""

from __future__ import annotations

from typing import Any

EVERYWHERE, NOT_IN_AZ1 = "g6.8xlarge", "p5en.48xlarge"


def phases(name: str, zone: str, region: str = "us-west-2") -> dict[str, Any]:
    """Return the changes that put decode on a type and both phases into a zone."""
    return {
        "region": region,
        "availability_zone": zone,
        "prefill.instance_type": EVERYWHERE,
        "decode.instance_type": name,
    }
