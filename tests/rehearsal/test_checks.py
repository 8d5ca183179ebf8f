"""Each check passes what is right and names what is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from constructs_pd.rehearsal import checks
from constructs_pd.rehearsal.dashboard import Dashboard, Replica, replicas
from constructs_pd.rehearsal.local_ray import LocalRay, RayNode
from constructs_pd.rehearsal.nodes import PlannedNode
from constructs_pd.rehearsal.questions import ANSWER_TOKENS, Answer, Question, answer_of, questions
from constructs_pd.rehearsal.report import Report, Step
from constructs_pd.rehearsal.work import Work, samples


def node(group: str) -> RayNode:
    return RayNode(PlannedNode(f"{group}-0" if group != "head" else group, group, 1, 0, 1, {}, {}, {}), 1, 1, (), {})


RAY = LocalRay({"h": node("head"), "p": node("prefill"), "d": node("decode")}, Dashboard(1))
PREFILL = Replica("Prefill:own", "rp", "p", 1)
DECODE = Replica("Decode:own", "rd", "d", 2)
INGRESS = Replica("OpenAiIngress", "ri", "d", 3)
RUNNING = [PREFILL, DECODE, INGRESS]
ANSWERS = [Answer("ab", "length", 100, 2), Answer("cd", "length", 50, 2)]
ASKED = [Question("first", "/v1/completions", {}), Question("second", "/v1/completions", {})]
WORK = {
    "rp": Work("p", {"local_compute": 150}, 2),
    "rd": Work("d", {"external_kv_transfer": 150}, 4, transfers=2, transferred_bytes=9000),
}


def test_what_is_right_passes() -> None:
    found = [
        checks.placement(RUNNING, RAY),
        checks.answered(ASKED, ANSWERS),
        checks.prefilled(WORK, RUNNING, RAY),
        checks.decoded(WORK, RUNNING, RAY, ANSWERS),
        checks.handed_over(WORK, RUNNING, ANSWERS),
        checks.equal_answers(ASKED, ANSWERS, ANSWERS),
    ]
    assert [check.name for check in found if not check.passed] == []
    assert found[4].detail == "150 of 150 prompt tokens in 2 transfers, about 9,000 bytes"
    assert Report("own", "mock", (Step("a", 1.0),), (), tuple(found)).as_data()["passed"] is True


@pytest.mark.parametrize(
    ("running", "fault"),
    [
        ([replace(PREFILL, node_id="d"), DECODE, INGRESS], "Prefill:own is on decode-0; prefill-0 has 0 engines"),
        ([PREFILL, DECODE, replace(INGRESS, node_id="p")], "OpenAiIngress is on prefill-0"),
        ([PREFILL, DECODE, DECODE], "decode-0 has 2 engines"),
        ([PREFILL, INGRESS], "decode-0 has 0 engines"),
    ],
)
def test_a_wrong_place_is_named(running: list[Replica], fault: str) -> None:
    found = checks.placement(running, RAY)
    assert not found.passed
    assert fault in found.detail


def test_work_on_another_node_is_named() -> None:
    work = {**WORK, "rp": replace(WORK["rp"], node_id="d")}
    found = checks.prefilled(work, RUNNING, RAY)
    assert (found.passed, found.detail) == (False, "Prefill:own rp worked on decode-0")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"prompt_tokens": {}}, "computed nothing"),
        ({"prompt_tokens": {"local_compute": 1, "external_kv_transfer": 5}}, "fetched 5 tokens"),
    ],
)
def test_a_prefill_engine_that_does_no_prefill_is_named(change: dict[str, Any], fault: str) -> None:
    found = checks.prefilled({**WORK, "rp": replace(WORK["rp"], **change)}, RUNNING, RAY)
    assert not found.passed
    assert fault in found.detail


def test_an_engine_that_did_nothing_is_named() -> None:
    assert "generated nothing" in checks.decoded({}, RUNNING, RAY, ANSWERS).detail
    found = checks.decoded({**WORK, "rd": replace(WORK["rd"], generated_tokens=3)}, RUNNING, RAY, ANSWERS)
    assert found.detail == "3 tokens were generated there, 4 were answered"


@pytest.mark.parametrize(
    "change", [{"transfers": 0}, {"transferred_bytes": 0}, {"prompt_tokens": {"local_compute": 150}}]
)
def test_a_cache_that_did_not_move_is_seen(change: dict[str, Any]) -> None:
    work = {**WORK, "rd": replace(WORK["rd"], **change)}
    assert not checks.handed_over(work, RUNNING, ANSWERS).passed


def test_a_different_answer_is_shown_beside_the_right_one() -> None:
    found = checks.equal_answers(ASKED, ANSWERS, [ANSWERS[0], replace(ANSWERS[1], text="xx")])
    assert (found.passed, found.detail) == (False, "1 of 2 differ; second: 'cd' against 'xx'")


def test_an_error_is_never_equal() -> None:
    wrong = [Answer(error="status 500"), ANSWERS[1]]
    assert not checks.equal_answers(ASKED, wrong, wrong).passed
    assert checks.answered(ASKED, wrong).detail == "first: status 500"


def test_swapped_roles_are_seen() -> None:
    def deployed(prefill: str, decode: str) -> dict[str, Any]:
        def config(role: str) -> dict[str, Any]:
            return {"engine_kwargs": {"kv_transfer_config": {"kv_role": role}}}

        return {"applications": [{"args": {"prefill_config": config(prefill), "decode_config": config(decode)}}]}

    assert checks.roles(deployed("kv_producer", "kv_consumer")).passed
    found = checks.roles(deployed("kv_consumer", "kv_producer"))
    assert (found.passed, found.detail) == (False, "prefill is kv_consumer, decode is kv_producer")


def test_questions_fit_the_context_and_begin_differently() -> None:
    asked = [question for turn in range(3) for question in questions("own", 1024, turn)]
    prompts = [question.body["prompt"] for question in asked if "prompt" in question.body]
    assert {len(prompt) for prompt in prompts} == {3, 40, 129, 300, 513, 900}
    assert max(len(prompt) for prompt in prompts) + ANSWER_TOKENS <= 1024
    assert len({prompt[0] for prompt in prompts}) == len(prompts)
    assert all(8 <= token < 248 for prompt in prompts for token in prompt)
    assert questions("own", 1024, 1) == questions("own", 1024, 1)


def test_an_answer_is_read_from_both_forms() -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 2}
    chat = {"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}], "usage": usage}
    text = {"choices": [{"text": "a", "finish_reason": "stop"}], "usage": usage}
    assert answer_of(chat) == answer_of(text) == Answer("a", "stop", 1, 2)


def test_metrics_are_read() -> None:
    text = '# HELP a\nray_a_total{ReplicaId="r",source="x y"} 5.0\nup 1\nray_b{le="+Inf"} 2\n'
    assert list(samples(text)) == [
        ("ray_a_total", {"ReplicaId": "r", "source": "x y"}, 5.0),
        ("ray_b", {"le": "+Inf"}, 2.0),
    ]


def test_only_running_replicas_count() -> None:
    states = [("RUNNING", "a"), ("STARTING", "b")]
    entries = [{"state": state, "replica_id": name, "node_id": "p", "pid": 5} for state, name in states]
    state = {"applications": {"llm": {"deployments": {"Prefill:own": {"replicas": entries}}}}}
    assert replicas(state, "llm") == [Replica("Prefill:own", "a", "p", 5)]
