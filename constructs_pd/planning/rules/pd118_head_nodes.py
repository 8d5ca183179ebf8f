"""PD118: the head stands on an x86_64 node without a GPU."""

from collections.abc import Iterator, Mapping

from constructs_pd.findings import Severity
from constructs_pd.planning import defaults
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

# Labels that only GPU nodes have.
GPU_NODE_LABELS = (defaults.GPU_PRESENT_LABEL[0], defaults.DEPLOYMENT_LABEL)


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a head sent to another architecture or to the nodes of a phase."""
    selector = facts.spec.head.node_selector
    architecture, expected = selector.get(defaults.ARCHITECTURE_LABEL[0]), defaults.ARCHITECTURE_LABEL[1]
    if architecture not in (None, expected):
        yield Violation(
            "head.node_selector",
            f"{architecture} nodes for an image that is built for {expected}",
            f"name nodes with {expected} CPUs",
        )
    for label in _of_gpu_nodes(facts, selector):
        yield Violation(
            "head.node_selector",
            f"{label}={selector[label]} selects GPU nodes",
            f"name CPU nodes, such as {defaults.ROLE_LABEL}: system",
        )
    for index, toleration in enumerate(facts.spec.head.tolerations):
        if toleration.key == defaults.GPU_TAINT_KEY:
            yield Violation(
                f"head.tolerations.{index}", f"{toleration.key} is the taint of GPU nodes", "leave the toleration out"
            )


def _of_gpu_nodes(facts: Facts, selector: Mapping[str, str]) -> Iterator[str]:
    phases = {phase.name for phase in facts.phases}
    for label, value in selector.items():
        is_role = label == defaults.ROLE_LABEL and value in phases
        is_type = label == "node.kubernetes.io/instance-type" and value in facts.catalog.instances
        if is_role or is_type or label in GPU_NODE_LABELS:
            yield label


RULE = Rule(
    code="PD118",
    severity=Severity.ERROR,
    title="The head stands on an x86_64 node without a GPU",
    rationale="On arm64 the image does not start; on a GPU node the head takes the room of an engine's pod.",
    source="aws/deep-learning-containers docs/ray-llm; Kubernetes documentation, Assigning Pods to Nodes",
    check=check,
)
