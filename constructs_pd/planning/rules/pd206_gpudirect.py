"""PD206: EFA reads and writes GPU memory directly."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase on instances without GPUDirect RDMA, or where nobody says."""
    for phase in facts.phases:
        if phase.instance is None or phase.instance.gpu.gpudirect_rdma:
            continue
        state = "has no" if phase.instance.gpu.gpudirect_rdma is False else "is not known to have"
        yield Violation(
            f"{phase.name}.instance_type",
            f"{phase.instance.instance_type} {state} GPUDirect RDMA between EFA and its GPUs",
            "compare answers with a plain engine before you rely on it, or choose a p4d, p5 or p6 family",
        )


RULE = Rule(
    code="PD206",
    severity=Severity.WARNING,
    title="EFA reads and writes GPU memory directly",
    rationale=(
        "NIXL's LIBFABRIC plugin asks for GPUDirect RDMA. Without it the KV cache is staged through host memory or "
        "registered as host memory with only a warning in the log; AWS's own sample runs so on g6.8xlarge."
    ),
    source="NIXL 1.3.1 libfabric_rail.cpp and plugin README; ai-dynamo/nixl PR#1385",
    check=check,
)
