import re
from typing import Any

import pytest

from constructs_pd.planning.rules.pd203_memory import RULE
from support.rules import findings_of
from support.specs import MODEL_ROW, plan_with

LONG = {"model.max_model_len": 131072, "prefill.concurrent_requests": 32, "decode.concurrent_requests": 32}
TOO_LARGE = {"model": {"source": "Qwen/Qwen3-32B", "max_model_len": 1024}}


def test_accepts_the_sample_of_aws() -> None:
    assert findings_of(RULE) == []


def test_refuses_long_contexts_by_the_dozen_with_both_numbers_and_what_would_fit() -> None:
    prefill, decode = findings_of(RULE, LONG)
    assert decode.subject == "decode.concurrent_requests"
    assert re.fullmatch(
        r"32 requests of 131,072 tokens in decode need 1[23]\d\.\d\d GiB of KV cache per GPU on g6\.8xlarge "
        r"\(1 x L4\), \d\.\d\d GiB are left: room for 0\.\d",
        decode.message,
    )
    assert prefill.message == decode.message.replace("decode", "prefill")
    assert "choose g6e.12xlarge" in decode.remedy


@pytest.mark.parametrize(
    ("changes", "remedied"),
    [
        (
            LONG,
            {"model.max_model_len": r"max_model_len to ([\d,]+)", "decode.concurrent_requests": r"requests to (\d+)"},
        ),
        ({**LONG, "model.max_model_len": 1024}, {"decode.concurrent_requests": r"concurrent_requests to (\d+)"}),
        ({"model.max_model_len": 131072}, {"model.max_model_len": r"max_model_len to ([\d,]+)"}),
    ],
)
def test_what_it_says_would_fit_does_and_one_more_does_not(changes: dict[str, Any], remedied: dict[str, str]) -> None:
    remedy = findings_of(RULE, changes)[-1].remedy
    values = {path: _number(pattern, remedy) for path, pattern in remedied.items()}
    fitting = {**changes, **values}
    if "decode.concurrent_requests" in values:
        fitting["prefill.concurrent_requests"] = values["decode.concurrent_requests"]
    assert findings_of(RULE, fitting) == []
    for path in values:
        assert findings_of(RULE, {**fitting, path: values[path] + 1})


def test_each_engine_that_it_names_holds_what_is_promised() -> None:
    names = re.findall(r"choose (\S+) in both phases", findings_of(RULE, LONG)[-1].remedy)
    assert names == ["g6e.12xlarge", "g7e.12xlarge", "g6e.48xlarge"]
    for name in names:
        engine = {"instance_type": name, "concurrent_requests": 32}
        assert plan_with({**LONG, "prefill": engine, "decode": engine}).decode.memory is not None


def test_refuses_weights_larger_than_the_gpu() -> None:
    prefill, _ = findings_of(RULE, TOO_LARGE)
    assert prefill.subject == "prefill.instance_type"
    assert re.fullmatch(
        r"weights 61\.0 GiB and 0\.\d GiB beside them leave too little for the KV cache of 20\.9 GiB usable per GPU on "
        r"g6\.8xlarge \(1 x L4\)",
        prefill.message,
    )
    assert "lower" not in prefill.remedy
    assert prefill.remedy.startswith("choose p5.4xlarge in prefill, or choose g5.12xlarge in prefill")


def test_names_the_number_of_gpus_where_another_is_stated() -> None:
    stated = {"instance_type": "g6.12xlarge", "tensor_parallel": 1}
    findings = findings_of(RULE, {**TOO_LARGE, "prefill": stated, "decode": stated})
    assert "choose g6.12xlarge with tensor_parallel 4" in findings[0].remedy


@pytest.mark.parametrize(
    ("changes", "named", "not_named"),
    [
        # p5 is not sold in the zone.
        ({"region": "eu-south-2", "availability_zone": "eu-south-2a", **TOO_LARGE}, "", "p5.4xlarge"),
        # A hybrid model needs as many GPUs on both sides.
        ({**LONG, "prefill.concurrent_requests": 1}, "choose g6e.12xlarge in both phases", "g6e.12xlarge in decode"),
        # FP8 checkpoints of ModelOpt do not run on A10G and A100.
        ({"model": {"source": "nvidia/Llama-3.1-70B-Instruct-FP8", "max_model_len": 1024}}, "choose ", "choose g5"),
    ],
)
def test_names_no_node_that_another_rule_refuses(changes: dict[str, Any], named: str, not_named: str) -> None:
    remedy = findings_of(RULE, changes)[-1].remedy
    assert named in remedy
    assert not_named not in remedy


def test_a_model_that_fits_nowhere_should_be_smaller() -> None:
    sizes = {"weights_gib": 9000, "kv_bytes_per_token": 4096}
    changes = {"model": {"source": "acme/own-7b"}, "custom_models": [{**MODEL_ROW, "sizes": sizes}]}
    assert {finding.remedy for finding in findings_of(RULE, changes)} == {
        "choose a smaller model, one with quantized weights, or a zone with larger nodes"
    }


def test_says_which_stated_argument_is_in_the_way() -> None:
    (finding,) = findings_of(RULE, {"decode.gpu_memory_utilization": 0.85})
    assert finding.remedy.startswith("leave out gpu_memory_utilization of decode, or choose ")
    stated = {"decode.gpu_memory_utilization": 0.85, "decode.max_num_seqs": 300}
    assert findings_of(RULE, stated)[0].remedy.startswith(
        "leave out gpu_memory_utilization and max_num_seqs of decode, or "
    )
    assert findings_of(RULE, {**LONG, "decode.max_num_seqs": 64})[-1].remedy.count("leave out") == 0


def test_leaves_a_context_longer_than_the_models_to_its_own_rule() -> None:
    assert findings_of(RULE, {"model.max_model_len": 262145}) == []


def test_speaks_of_a_stretched_context() -> None:
    args = {"hf_overrides": {"rope_parameters": {"rope_type": "yarn", "factor": 4.0}}}
    changes = {"model.max_model_len": 1_000_000, "prefill.engine_args": args, "decode.engine_args": args}
    assert [finding.subject for finding in findings_of(RULE, changes)] == ["model.max_model_len"] * 2


@pytest.mark.parametrize(
    "changes", [{"model.source": "a/b"}, {"decode.instance_type": "p9.large", "prefill.instance_type": "p9.large"}]
)
def test_says_nothing_of_what_is_unknown(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    assert found is not None
    return int(found[1].replace(",", ""))


def test_names_the_size_where_either_phase_states_another() -> None:
    changes = {
        "region": "us-east-1",
        "availability_zone": "us-east-1a",
        "model": {"source": "openai/gpt-oss-120b", "max_model_len": 4096},
        "prefill": {"instance_type": "g5.8xlarge"},
        "decode": {"instance_type": "g6e.24xlarge", "tensor_parallel": 2},
    }
    (finding,) = findings_of(RULE, changes)
    named = re.search(r"choose (\S+) with tensor_parallel (\d) in both phases", finding.remedy)
    assert named is not None
    engine = {"instance_type": named[1], "tensor_parallel": int(named[2])}
    plan_with({**changes, "prefill": engine, "decode": engine})


def test_names_no_context_below_the_stated_prompts() -> None:
    changes = {
        "model": {"source": "Qwen/Qwen3-8B", "max_model_len": 32768},
        "decode.concurrent_requests": 64,
        "traffic": {"requests_per_second": 0.1, "prompt_tokens": 4000},
    }
    assert "max_model_len" not in findings_of(RULE, changes)[-1].remedy


def test_room_for_less_than_one_is_not_rounded_to_one() -> None:
    graphs = {"prefill.enforce_eager": False, "decode.enforce_eager": False}
    prefill, decode = findings_of(RULE, {"model.max_model_len": 41984, **graphs})
    assert decode.message.startswith("1 request of 41,984 tokens in decode need")
    assert decode.message.endswith("room for 0.9")
    assert "set decode.enforce_eager to true" in decode.remedy
    assert prefill.message != decode.message


def test_an_unchunked_prompt_leaves_less_context_and_is_not_refused() -> None:
    unchunked = {"enable_chunked_prefill": False}
    changes = {"model.max_model_len": None, "prefill.engine_args": unchunked, "decode.engine_args": unchunked}
    assert findings_of(RULE, changes) == []
    context = plan_with(changes).decode.engine_arguments["max_model_len"]
    assert isinstance(context, int)
    assert 2048 < context < 32736
    assert findings_of(RULE, {**changes, "model.max_model_len": context}) == []
    assert findings_of(RULE, {**changes, "model.max_model_len": context + 1024})
