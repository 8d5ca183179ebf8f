"""PD210: a worker pod holds what runs in it."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning import defaults
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.sizes import pod_cpu_cores, pod_memory_gib


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase whose nodes leave too little CPU or memory for its pod."""
    for phase in facts.phases:
        if phase.instance is None:
            continue
        name = phase.instance.instance_type
        cores, needed_cores = pod_cpu_cores(phase.instance), _needed_cores(phase.name)
        if cores < needed_cores:
            yield Violation(
                f"{phase.name}.instance_type",
                f"{name} leaves {cores} cores to a pod, its Ray actors ask for {needed_cores}",
                "choose an instance type with more vCPUs",
            )
        memory, needed_memory = pod_memory_gib(phase.instance), 2 * defaults.WORKER_SHARED_MEMORY_GIB
        if memory < needed_memory:
            yield Violation(
                f"{phase.name}.instance_type",
                f"{name} leaves {memory} GiB to a pod, shared memory and engine need {needed_memory}",
                "choose an instance type with more memory",
            )


def _needed_cores(phase: str) -> int:
    ingress = defaults.INGRESSES_PER_DECODE_REPLICA * defaults.INGRESS_CPU_CORES if phase == "decode" else 0
    return defaults.REPLICA_ACTOR_CPU_CORES + ingress


def worked(facts: Facts) -> Iterator[str]:
    """Yield what each phase's nodes leave to a pod."""
    reserved_cores, reserved_gib = defaults.NODE_RESERVE_CPU_CORES, defaults.NODE_RESERVE_MEMORY_GIB
    for phase in facts.phases:
        if phase.instance is None:
            yield f"{phase.name}: {phase.spec.instance_type} is not known, see PD201"
            continue
        cores, memory = pod_cpu_cores(phase.instance), pod_memory_gib(phase.instance)
        yield (
            f"{phase.name}: {cores} cores = {cores + reserved_cores} allocatable - {reserved_cores}, "
            f"{_needed_cores(phase.name)} needed"
        )
        yield (
            f"{phase.name}: {memory} GiB = {memory + reserved_gib} GiB allocatable - {reserved_gib} GiB, "
            f"{2 * defaults.WORKER_SHARED_MEMORY_GIB} GiB needed"
        )


RULE = Rule(
    code="PD210",
    severity=Severity.ERROR,
    title="A worker pod holds what runs in it",
    rationale="A bundle that is larger than any pod waits for ever; Ray adds 1 CPU for the replica actor to the first.",
    source="Ray 2.58.0 llm_server.py; ray-project/kuberay#1090, #3414, #4366, #4555",
    check=check,
    arithmetic=(
        "cores = allocatable - 2 for the node's DaemonSets >= 1 of the replica's actor + 2 of ingress replicas on "
        "decode; memory = allocatable - 10 GiB >= 2 x 16 GiB, shared memory and engine"
    ),
    worked=worked,
)
