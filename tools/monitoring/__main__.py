"""Run the reference deployment with the real engine under load, scraped by a real Prometheus with its rules.

Writes the names of the metrics that it exports, what was scraped and recorded (tests/data/monitoring), and prints what
each recording rule yields.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from constructs_pd.manifests.monitoring.pod_monitors import pod_monitors
from constructs_pd.manifests.monitoring.rules import rule_file
from constructs_pd.planning.resolve import plan
from constructs_pd.planning.spec_file import load_spec
from constructs_pd.planning.spec_monitoring import Monitoring, Slo
from tools.monitoring.metric_names import write_exported
from tools.monitoring.recorded import save
from tools.monitoring.rehearsed import rehearsed
from tools.monitoring.results import table
from tools.monitoring.scrape import scrape_config
from tools.monitoring.server import prometheus

ROOT = Path(__file__).parents[2]
SLO = Slo(ttft_p95_seconds=2.0, itl_p95_seconds=0.05, availability=0.999)
#: As in the cluster; the last of a load is exported and scraped a moment later.
SCRAPE_SECONDS = 15.0
AFTER_SECONDS = 40.0


def main() -> int:
    """Rehearse, scrape, write."""
    parser = argparse.ArgumentParser(prog="python -m tools.monitoring", description=__doc__)
    parser.add_argument("--seconds", type=float, default=420.0, help="of load, 420 by default")
    parser.add_argument(
        "--engine", choices=("vllm", "mock"), default="vllm", help="vllm, or mock, which writes nothing"
    )
    arguments = parser.parse_args()
    stated = load_spec(ROOT / "apps" / "reference.yaml")
    planned = plan(stated.model_copy(update={"monitoring": Monitoring(), "slo": SLO}))
    assert planned.monitoring is not None
    begun = time.monotonic()

    def tell(text: str) -> None:
        print(f"{time.monotonic() - begun:6.1f} s  {text}", file=sys.stderr)

    with tempfile.TemporaryDirectory(prefix="monitoring-") as folder, rehearsed(planned, arguments.engine, tell) as ran:
        monitor = pod_monitors(planned, planned.monitoring)["ray"]
        jobs = [scrape_config("ray", monitor, ran.targets(), SCRAPE_SECONDS)]
        rules = rule_file(planned, planned.monitoring)
        with prometheus(Path(folder), scrape_configs=jobs, rules=rules, seconds=SCRAPE_SECONDS) as server:
            start = time.time()
            with ran.load() as load:
                pages = ran.pages(arguments.seconds, SCRAPE_SECONDS)
            ended = load.ended()
            tell(f"{sum(each.is_answered for each in ended)} of {len(ended)} requests were answered")
            end = time.time()
            time.sleep(AFTER_SECONDS)
            print(table(server, planned, end))
            if arguments.engine == "vllm":
                versions = planned.versions
                today = datetime.now(UTC).date().isoformat()
                count = write_exported(pages, f"Ray {versions.ray} and vLLM {versions.vllm}", today)
                tell(f"wrote {count} names")
                tell(f"wrote {save(server, start, end + AFTER_SECONDS)} series")
    return 0


if __name__ == "__main__":
    sys.exit(main())
