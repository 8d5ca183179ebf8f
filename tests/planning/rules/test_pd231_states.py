from typing import Any

import pytest

from constructs_pd.planning.rules.pd231_states import RULE
from support.rules import findings_of

GRAPHS = {"prefill.enforce_eager": False, "decode.enforce_eager": False}


def test_refuses_more_sequences_than_there_are_blocks_for_with_both_numbers() -> None:
    (finding,) = findings_of(RULE, {**GRAPHS, "decode.max_num_seqs": 128})
    assert finding.subject == "decode.max_num_seqs"
    most = int(finding.message.rsplit(maxsplit=1)[-1])
    assert finding.message == f"128 sequences, and the KV cache has blocks for the states of {most}"
    assert findings_of(RULE, {**GRAPHS, "decode.max_num_seqs": most}) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"decode.max_num_seqs": 128},  # eager
        GRAPHS,  # the planner chooses
        {**GRAPHS, "model": {"source": "Qwen/Qwen3-0.6B"}, "decode.max_num_seqs": 512},
        {**GRAPHS, "model": {"source": "a/b"}, "decode.max_num_seqs": 128},
        {**GRAPHS, "model.max_model_len": 200000, "decode.max_num_seqs": 128},  # PD203
    ],
)
def test_accepts_the_rest(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []
