from dataclasses import replace

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.defects import why_never_met

CATALOG = load_catalog()
HISTORY = {
    "vllm-37285": "vllm before 0.26.0 is refused",
    "vllm-42024": "vllm before 0.26.0 is refused",
    "vllm-52617": "the hand-over is planned to be without it",
    "nixl-1862": "the hand-over is planned to be without it",
    "nixl-1986": "the hand-over is planned to be without it",
    "ray-64181": "ray before 2.58.0 is refused",
}


def test_history_is_told_from_what_can_be_met() -> None:
    found = {name: why_never_met(row, CATALOG) for name, row in CATALOG.known_defects.items()}
    oldest_kuberay = found.pop("kuberay-2343")
    assert oldest_kuberay is not None
    assert oldest_kuberay.startswith("kuberay before 1.")
    assert {name: reason for name, reason in found.items() if reason is not None} == HISTORY


def test_it_follows_from_the_catalogue() -> None:
    row = CATALOG.known_defects["kuberay-2343"]
    (kuberay, *_) = CATALOG.kuberay.values()
    older = replace(CATALOG, kuberay={"1.2.0": kuberay})
    assert why_never_met(row, older) is None
