"""What prompts of all lengths hand over is what the budget of the hand-over says of each."""

from __future__ import annotations

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.facts import Facts, gather
from constructs_pd.planning.hand_over import transfer_time
from constructs_pd.planning.hand_over_size import hand_over_size
from constructs_pd.planning.performance.engines import disaggregated_of, requests_of
from constructs_pd.planning.transfer_paths import pair_gbps, planned_path
from support.specs import spec_with

# Dense; with windows; with states.
MODELS = ("Qwen/Qwen3-8B", "openai/gpt-oss-20b", "Qwen/Qwen3.5-9B")


def facts(model: str) -> Facts:
    changes = {
        "model": {"source": model, "max_model_len": 32768},
        "traffic": {"requests_per_second": 1.0, "prompt_tokens": 500, "output_tokens": 300, "prompt_variation": 1.5},
    }
    return gather(spec_with(changes), load_catalog())


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("share", [0.5, 0.95])
def test_a_prompt_takes_as_long_as_the_budget_says(model: str, share: float) -> None:
    of = facts(model)
    assert of.spec.traffic is not None
    requests, path = requests_of(of.spec.traffic, 32768), planned_path(of)
    assert requests is not None
    assert path is not None
    served = disaggregated_of(of, requests)
    assert served is not None
    factor = requests.quantile(share)
    size = hand_over_size(of, round(500 * factor))
    assert size is not None
    found = served.hand_over_seconds(requests, 1e-9, factor)
    assert found == pytest.approx(transfer_time(size, path, pair_gbps(of, path)).alone)


def test_states_are_handed_over_once_however_long_a_prompt_is() -> None:
    of = facts("Qwen/Qwen3.5-9B")
    assert of.spec.traffic is not None
    requests = requests_of(of.spec.traffic, 32768)
    assert requests is not None
    served = disaggregated_of(of, requests)
    assert served is not None
    factor = requests.quantile(0.95)
    assert factor > 3
    mean, long = (served.hand_over_seconds(requests, 1e-9, each) for each in (1.0, factor))
    assert mean is not None
    assert long is not None
    assert long < 1.6 * mean
