"""The corruption canary: rounding is forgiven, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from constructs_pd.cli.main import main
from constructs_pd.conformance import canary as canaries
from constructs_pd.conformance.canary import PROMPTS, CanaryAnswer, altered, compare
from support.openai_stub import MODEL, Fault, Stub, running


def answer(*tokens: str, logprob: float = -0.1, margin: float = 2.0) -> CanaryAnswer:
    return CanaryAnswer("".join(tokens), tokens, (logprob,) * len(tokens), (margin,) * len(tokens))


RIGHT = answer("a", "b", "c")


def test_the_same_answer() -> None:
    assert compare(RIGHT, RIGHT).expected is None
    assert compare(RIGHT, RIGHT).tokens == 3


def test_another_token_where_the_right_one_was_much_likelier() -> None:
    found = compare(RIGHT, answer("a", "x", "c"))
    assert (found.tokens, found.expected) == (1, "token 1 'b' with log probability -0.100")


def test_another_token_where_two_were_as_likely_ends_the_comparison() -> None:
    near = answer("a", "b", "c", margin=0.1)
    assert compare(near, answer("a", "x", "y")).expected is None
    assert compare(near, answer("a", "x", "y")).tokens == 1


def test_another_token_where_two_were_as_likely_but_not_of_that_probability() -> None:
    assert compare(answer("a", "b", margin=0.1), answer("x", "y", logprob=-3)).expected is not None


@pytest.mark.parametrize(("logprob", "differs"), [(-0.59, False), (-0.61, True)])
def test_the_same_tokens_of_another_probability(logprob: float, differs: bool) -> None:
    assert (compare(RIGHT, answer("a", "b", "c", logprob=logprob)).expected is not None) is differs


def test_an_answer_that_ends_early() -> None:
    assert compare(RIGHT, answer("a", "b")).expected == "3 tokens"


def test_without_probabilities_the_text_is_compared() -> None:
    assert compare(CanaryAnswer("a b"), CanaryAnswer("a b")).expected is None
    assert compare(CanaryAnswer("a b"), CanaryAnswer("a c")).actual == "'a c'"


def test_without_alternatives_no_other_token_is_excused() -> None:
    unknown = CanaryAnswer("ab", ("a", "b"), (-0.1, -0.1), (None, None))
    assert compare(unknown, unknown).tokens == 2
    assert compare(unknown, answer("a", "x")).expected == "token 1 'b' with log probability -0.100"


@pytest.mark.parametrize(
    ("top", "margin"), [(None, None), ({"a": -0.1}, None), ({"a": -0.1, "b": -0.1}, 0), ({"b": -3.0, "a": -0.5}, 2.5)]
)
def test_how_far_the_next_token_was_behind_is_known_of_two(top: dict[str, float] | None, margin: float | None) -> None:
    logprobs = {"tokens": ["a"], "token_logprobs": [-0.1], "top_logprobs": [top]}
    assert canaries._of_completion({"text": "a", "logprobs": logprobs}).margins == (margin,)
    assert canaries._of_completion({"text": "a", "logprobs": {**logprobs, "top_logprobs": None}}).margins == (None,)


def test_the_prompts_fill_many_blocks_and_differ_from_their_alterations() -> None:
    longest = list(PROMPTS.values())[-1]
    assert len(longest.split()) > 100 * 16
    assert list(altered(longest)) == ["the begin", "the middle", "the end"]
    for prompt in altered(longest).values():
        assert prompt != longest
        assert sorted(prompt.split()) == sorted(longest.split())
        assert prompt.split("\n")[-1] == longest.split("\n")[-1]


def canary(url: str, *options: str) -> int:
    return main(["conformance", "--base-url", url, "--model", MODEL, "--only", "CF901", *options])


def test_stored_answers_find_silently_zeroed_blocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answers.json"
    with running(Stub()) as url:
        assert main(["conformance", "--base-url", url, "--model", MODEL, "--store-answers", str(path)]) == 0
        assert canary(url, "--answers", str(path)) == 0
    with running(Stub(frozenset({Fault.ZEROED_BLOCKS}))) as url:
        assert canary(url, "--answers", str(path)) == 1
    assert "lines: token 0" in capsys.readouterr().out


def test_stored_answers_are_of_one_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answers.json"
    with running(Stub()) as url:
        assert main(["conformance", "--base-url", url, "--model", MODEL, "--store-answers", str(path)]) == 0
        path.write_text(path.read_text(encoding="utf-8").replace(f'"model": "{MODEL}"', '"model": "other"'))
        assert canary(url, "--answers", str(path)) == 2
        assert f"holds the answers of 'other', not of '{MODEL}'" in capsys.readouterr().err
        assert canary(url, "--answers", str(path), "--reference-model", "other") == 0


@pytest.mark.parametrize(
    "told",
    [
        '"tokens": ["a", "b"], "logprobs": [-1.0], "margins": []',
        '"tokens": ["a"], "logprobs": [-1.0]',
        '"tokens": [], "logprobs": [], "margins": []',
        '"tokens": ["a"], "logprobs": [-1e999], "margins": [null]',
    ],
)
def test_stored_answers_that_compare_nothing_are_refused(
    told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "answers.json"
    answers = ", ".join(f'{json.dumps(name)}: {{"text": "x", {told}}}' for name in PROMPTS)
    stored = f'{{"format": 1, "model": "{MODEL}", "prompts": {json.dumps(PROMPTS)}, "answers": {{{answers}}}}}'
    path.write_text(stored, encoding="ascii")
    with running(Stub()) as url:
        assert canary(url, "--answers", str(path)) == 2
    assert capsys.readouterr().err.startswith(f"CF008 error --answers: {path} cannot be read")


def test_a_reference_finds_them_as_well() -> None:
    with running(Stub()) as reference, running(Stub(frozenset({Fault.ZEROED_BLOCKS}))) as url:
        assert canary(url, "--reference-url", reference) == 1
    with running(Stub()) as reference, running(Stub()) as url:
        assert canary(url, "--reference-url", reference, "--reference-model", MODEL) == 0


@pytest.mark.parametrize("change", [("/v1", "/v1/"), ("http", "HTTP")])
def test_an_endpoint_is_no_reference_for_itself(change: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    stub = Stub()
    with running(stub) as url:
        assert canary(url, "--reference-url", url.replace(*change)) == 2
        assert stub.requests == 0
        assert "is the endpoint under test, which would be compared with itself" in capsys.readouterr().err
        # Another model there may be served without a hand-over.
        assert canary(url, "--reference-url", url, "--reference-model", "other") == 2
        assert capsys.readouterr().err.startswith("CF006 error")


def test_the_reference_is_not_shown_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_KEY", "a-key-that-nobody-may-see")
    key = "a-key-that-nobody-may-see"
    with running(Stub(api_key=key)) as url, running(Stub(api_key=key)) as reference:
        # The reference has the same key: without it, it refuses.
        assert canary(url, "--api-key-env", "STUB_KEY", "--reference-url", reference) == 2


def test_without_a_reference_it_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    with running(Stub()) as url:
        assert canary(url) == 0
    assert "neither --reference-url nor --answers was given" in capsys.readouterr().out


def test_every_question_is_salted_so_that_no_cache_of_an_earlier_one_hides_a_loss() -> None:
    stub = Stub()
    with running(stub) as url, running(Stub(salts=stub.salts)) as reference:
        assert canary(url, "--reference-url", reference) == 0
    assert len(stub.salts) == 2 * len(PROMPTS)


def test_an_endpoint_that_refuses_the_salt_is_asked_without() -> None:
    with running(Stub()) as reference, running(Stub(refuses_unknown_fields=True)) as url:
        assert canary(url, "--reference-url", reference) == 0
    with running(Stub(frozenset({Fault.ZEROED_BLOCKS}), refuses_unknown_fields=True)) as url, running(Stub()) as right:
        assert canary(url, "--reference-url", right) == 1
