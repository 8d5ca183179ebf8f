from typing import Any

from constructs_pd.planning.rules.pd210_pod_size import RULE
from support.rules import findings_of
from support.specs import FOUR_GPU_ROW


def instance(phase: str, millicores: int, memory_mib: int) -> dict[str, Any]:
    row = {**FOUR_GPU_ROW, "allocatable_cpu_millicores": millicores, "allocatable_memory_mib": memory_mib}
    return {"custom_instances": [{**row, "instance_type": "own.1"}], f"{phase}.instance_type": "own.1"}


def test_accepts_the_catalogues_types() -> None:
    assert findings_of(RULE) == []


def test_accepts_exactly_what_is_needed() -> None:
    # Two cores and ten GiB stay with the node's DaemonSets.
    assert findings_of(RULE, instance("prefill", 3000, 42 * 1024)) == []
    assert findings_of(RULE, instance("decode", 5000, 42 * 1024)) == []


def test_refuses_a_core_too_few_and_asks_decode_for_its_ingress_as_well() -> None:
    (prefill,) = findings_of(RULE, instance("prefill", 2999, 42 * 1024))
    assert prefill.message == "own.1 leaves 0 cores to a pod, its Ray actors ask for 1"
    (decode,) = findings_of(RULE, instance("decode", 4999, 42 * 1024))
    assert decode.message == "own.1 leaves 2 cores to a pod, its Ray actors ask for 3"


def test_refuses_a_gib_too_little() -> None:
    (finding,) = findings_of(RULE, instance("prefill", 3000, 42 * 1024 - 1))
    assert finding.message == "own.1 leaves 31 GiB to a pod, shared memory and engine need 32"


def test_leaves_an_unknown_type_to_its_own_rule() -> None:
    assert findings_of(RULE, {"decode.instance_type": "x"}) == []
