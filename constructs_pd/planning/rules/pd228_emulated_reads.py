"""PD228: EFA reads remote memory in hardware."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.transfer_paths import pair_gbps, planned_path


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase on instances whose EFA reads no remote memory, or where nobody says."""
    planned = planned_path(facts)
    if planned is None:
        return
    gbps, tcp = pair_gbps(facts, planned), pair_gbps(facts, facts.catalog.transfer_paths["tcp_limit"])
    for phase in facts.phases:
        if phase.instance is None or phase.instance.efa.rdma_read:
            continue
        state = "has no" if phase.instance.efa.rdma_read is False else "is not known to have"
        yield Violation(
            f"{phase.name}.instance_type",
            f"{phase.instance.instance_type} {state} RDMA read: libfabric then emulates NIXL's reads in software, at "
            f"{gbps:,.1f} Gbit/s for an engine as planned, where TCP would have {tcp:,.1f} at best",
            "choose an instance type on Nitro 4 or later (g6, g6e, p5 and newer), or say what you know in "
            "custom_instances (efa.rdma_read)",
        )


RULE = Rule(
    code="PD228",
    severity=Severity.WARNING,
    title="EFA reads remote memory in hardware",
    rationale="The hand-over is a read. Emulated, it is messages and copies by the CPU: EFA in name, as slow as TCP.",
    source="EC2 User Guide, Elastic Fabric Adapter; ofiwg/libfabric fi_efa(7), FI_EFA_USE_DEVICE_RDMA; "
    "ofiwg/libfabric#8661",
    check=check,
)
