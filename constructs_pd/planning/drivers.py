"""Which branch of NVIDIA's driver a phase's nodes run."""

from __future__ import annotations

from datetime import date

from constructs_pd.planning.catalog.rows import AmiRow
from constructs_pd.planning.facts import Facts, PhaseFacts


def node_driver(phase: PhaseFacts, facts: Facts) -> int | None:
    """Return the branch on a phase's nodes, or none for an AMI of the user's own of which it is not stated.

    EKS's own image chooses between its drivers by the instance type: the newer one is for GPUs that need it.
    """
    if phase.spec.ami_id is not None:
        return phase.spec.ami_driver_branch
    needed = phase.instance.gpu.driver_branch if phase.instance else None
    if needed is None or needed <= facts.ami.driver_branch:
        return facts.ami.driver_branch
    return _newest(facts.ami, facts.spec.nodes.ami_release_version)


def _newest(ami: AmiRow, release: str | None) -> int:
    """Return the newest branch in a release of an image; without one EKS takes its newest release."""
    if ami.newer_driver_branch is None or ami.newer_driver_since is None:
        return ami.driver_branch
    # A release ends with its day: 1.35.2-20261101.
    is_newer = release is None or date.fromisoformat(release.rpartition("-")[2]) >= ami.newer_driver_since
    return ami.newer_driver_branch if is_newer else ami.driver_branch
