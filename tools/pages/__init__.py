"""The pages of docs/ that are made from data: one file each, written by `python -m tools.pages`."""

from __future__ import annotations

from tools.pages.add_ons import add_ons_page
from tools.pages.compatibility import compatibility_page
from tools.pages.conformance import conformance_page
from tools.pages.control_plane_cases import control_plane_cases_page
from tools.pages.dashboards import dashboards_page
from tools.pages.known_defects import known_defects_page
from tools.pages.memory_accuracy import memory_accuracy_page
from tools.pages.model_sizes import model_sizes_page
from tools.pages.monitoring_rules import monitoring_rules_page
from tools.pages.performance_accuracy import performance_accuracy_page
from tools.pages.rollout import rollout_page
from tools.pages.rules import rules_page
from tools.pages.specification import specification_page
from tools.pages.timeouts import timeouts_page
from tools.pages.transfer_paths import transfer_paths_page

PAGES = {
    "add_ons.md": add_ons_page,
    "compatibility.md": compatibility_page,
    "conformance.md": conformance_page,
    "control_plane_cases.md": control_plane_cases_page,
    "dashboards.md": dashboards_page,
    "known_defects.md": known_defects_page,
    "memory_accuracy.md": memory_accuracy_page,
    "model_sizes.md": model_sizes_page,
    "monitoring_rules.md": monitoring_rules_page,
    "performance_accuracy.md": performance_accuracy_page,
    "rollout.md": rollout_page,
    "rules.md": rules_page,
    "specification.md": specification_page,
    "timeouts.md": timeouts_page,
    "transfer_paths.md": transfer_paths_page,
}
