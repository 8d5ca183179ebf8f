"""Draw each dashboard from what was recorded, to docs/dashboards."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tools.dashboards.asked import lines_of, recorded_server
from tools.dashboards.deployment import drawn_dashboards
from tools.dashboards.digest import digest_of
from tools.dashboards.drawing import draw
from tools.monitoring.__main__ import ROOT

PICTURES = ROOT / "docs" / "dashboards"


def main() -> int:
    """Ask each panel's queries and draw the answers."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="dashboards-") as folder, recorded_server(Path(folder)) as server:
        for name, dashboard in drawn_dashboards().items():
            lines = {panel["id"]: lines_of(server, panel) for panel in dashboard["panels"]}
            draw(dashboard, lines, PICTURES / f"{name}.png", digest_of(dashboard))
            print(f"wrote docs/dashboards/{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
