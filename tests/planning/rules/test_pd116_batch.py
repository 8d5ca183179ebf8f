import pytest

from constructs_pd.planning.rules.pd116_batch import RULE
from support.rules import findings_of
from support.specs import plan_with


@pytest.mark.parametrize(("tokens", "sequences"), [(None, None), (8, None), (None, 8), (8, 8), (9, 8)])
def test_accepts_a_token_for_each_sequence(tokens: int | None, sequences: int | None) -> None:
    assert findings_of(RULE, {"decode.max_num_batched_tokens": tokens, "decode.max_num_seqs": sequences}) == []


def test_refuses_one_token_too_few_with_both_numbers() -> None:
    (finding,) = findings_of(RULE, {"decode.max_num_batched_tokens": 7, "decode.max_num_seqs": 8})
    assert finding.message == "7 tokens for 8 sequences"


@pytest.mark.parametrize(("sequences", "count"), [(2048, 0), (2049, 1)])
def test_vllms_own_number_of_tokens_counts_too(sequences: int, count: int) -> None:
    findings = findings_of(RULE, {"decode.max_num_seqs": sequences})
    assert [finding.message for finding in findings] == [f"2048 tokens for {sequences} sequences"] * count


@pytest.mark.parametrize(
    ("stated", "messages"),
    [
        ({"max_num_seqs": 8, "concurrent_requests": 8}, []),
        ({"max_num_seqs": 7, "concurrent_requests": 8}, ["7 sequences for 8 requests at once"]),
        ({"max_num_batched_tokens": 7, "concurrent_requests": 8}, ["7 tokens for 8 requests at once"]),
        ({"concurrent_requests": 2049}, ["2048 tokens for 2049 requests at once"]),
    ],
)
def test_there_is_a_sequence_for_each_request(stated: dict[str, int], messages: list[str]) -> None:
    changes = {f"decode.{name}": value for name, value in stated.items()}
    assert [finding.message for finding in findings_of(RULE, changes)] == messages


@pytest.mark.parametrize(("tokens", "count"), [(1024, 0), (1023, 1)])
def test_without_chunks_a_whole_prompt_must_fit(tokens: int, count: int) -> None:
    changes = {
        "prefill.max_num_batched_tokens": tokens,
        "prefill.engine_args": {"enable_chunked_prefill": False},
        "model.max_model_len": 1024,
    }
    findings = findings_of(RULE, changes)
    assert len(findings) == count
    assert all("1,023 tokens for prompts of up to 1,024" in finding.message for finding in findings)


def test_with_chunks_it_need_not() -> None:
    assert findings_of(RULE, {"prefill.max_num_batched_tokens": 16, "model.max_model_len": 1024}) == []


def test_without_a_stated_context_an_unchunked_step_bounds_it() -> None:
    changes = {
        "model": {"source": "Qwen/Qwen3-8B"},
        "prefill.max_num_batched_tokens": 2048,
        "prefill.engine_args": {"enable_chunked_prefill": False},
    }
    assert findings_of(RULE, changes) == []
    assert plan_with(changes).prefill.engine_arguments["max_model_len"] == 2048
