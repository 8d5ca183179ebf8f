"""Whatever a specification file holds: a plan or findings, never a traceback, and JSON that can be read."""

from __future__ import annotations

import json
from errno import EACCES
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from constructs_pd.planning.spec import DeploymentSpec
from support.command_line import Done, command
from support.specs import EXISTING_FILE, MODEL_ROW, changed, reference_data
from support.strategies_runs import examples

REFERENCE = EXISTING_FILE.read_text(encoding="utf-8")
LINES = REFERENCE.splitlines(keepends=True)
ABSURD: list[Any] = [
    0,
    -1,
    10**30,
    -(10**30),
    1e308,
    float("nan"),
    float("inf"),
    True,
    "8",
    "",
    [],
    {},
    [[[]]],
    None,
    1.5,
]
# YAML alone, without what its reader refuses anyway.
VALUES = st.recursive(
    st.sampled_from(ABSURD) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)


def no_nan(text: str) -> None:
    raise AssertionError(f"{text} is no JSON")


def sound_or_refused(path: Path) -> Done:
    """Plan a file in both ways, and compare them."""
    done, as_json = command("plan", str(path)), command("plan", str(path), "--json")
    data = json.loads(as_json.out, parse_constant=no_nan)
    assert done.status == as_json.status == (1 if data["plan"] is None else 0)
    assert as_json.err == ""
    if done.status:
        assert done.out == ""
        assert len(data["findings"]) > 0
        assert done.err.count("\n") >= 2
    assert "Traceback" not in done.err
    assert command("explain", "PD203", str(path)).status in (0, 1)
    return done


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any") / "spec.yaml"


@examples(100)
@given(content=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert sound_or_refused(path).status == 1


@examples(60)
@given(data=st.data())
def test_the_reference_with_a_line_changed_left_out_or_cut(path: Path, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(LINES) - 1))
    kind = data.draw(st.sampled_from(["cut", "left out", "twice", "replaced", "value"]))
    line = LINES[index]
    if kind == "cut":
        text = "".join(LINES[:index]) + line[: data.draw(st.integers(0, len(line)))]
    else:
        value = json.dumps(data.draw(VALUES))
        other = {
            "left out": "",
            "twice": line + line,
            "replaced": data.draw(st.text(max_size=40)) + "\n",
            "value": f"{line.partition(':')[0]}: {value}\n",
        }[kind]
        text = "".join([*LINES[:index], other, *LINES[index + 1 :]])
    path.write_text(text, encoding="utf-8", errors="replace")
    sound_or_refused(path)


FIELDS = [
    "model.max_model_len",
    "prefill.replicas",
    "prefill.tensor_parallel",
    "decode.concurrent_requests",
    "decode.max_num_seqs",
    "decode.max_num_batched_tokens",
    "prefill.gpu_memory_utilization",
    "prefill.root_volume_gib",
    "drain_seconds",
    "head.memory_gib",
    "initializing_timeout_seconds",
]


@pytest.mark.parametrize("field", FIELDS)
def test_absurd_numbers_are_refused_or_planned(path: Path, field: str) -> None:
    for value in ABSURD:
        if value is None:
            continue
        path.write_text(yaml.safe_dump(changed(reference_data(), {field: value})), encoding="utf-8")
        sound_or_refused(path)


SIZES = {"weights_gib": 14.2, "kv_bytes_per_token": 131072}
ABSURD_SIZES: list[tuple[str, Any]] = [
    (name, value)
    for name in (*SIZES, "state_bytes_per_request")
    for value in ABSURD
    if value is not None and (name, value) not in (("weights_gib", 1.5), ("state_bytes_per_request", 0))
]


@pytest.mark.parametrize(("name", "value"), ABSURD_SIZES, ids=str)
def test_absurd_sizes_by_hand_are_refused_where_they_stand(path: Path, name: str, value: Any) -> None:
    row = {**MODEL_ROW, "sizes": {**SIZES, name: value}}
    data = changed(reference_data(), {"model.source": MODEL_ROW["model"], "custom_models": [row]})
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    done = sound_or_refused(path)
    assert done.status == 1
    assert f"PD004 error custom_models.0.sizes.{name}" in done.err
    assert done.err.startswith("1 error, nothing was written.\n")


@pytest.mark.parametrize("name", SIZES)
def test_missing_sizes_are_named(path: Path, name: str) -> None:
    row = {**MODEL_ROW, "sizes": {key: value for key, value in SIZES.items() if key != name}}
    data = changed(reference_data(), {"model.source": MODEL_ROW["model"], "custom_models": [row]})
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    assert f"PD003 error custom_models.0.sizes.{name}" in sound_or_refused(path).err


def test_sizes_by_hand_at_their_bounds_are_planned_without_negative_numbers(path: Path) -> None:
    for sizes in ({"weights_gib": 1e-300, "kv_bytes_per_token": 1}, {"weights_gib": 1e5, "kv_bytes_per_token": 10**9}):
        row = {**MODEL_ROW, "sizes": sizes}
        data = changed(reference_data(), {"model.source": MODEL_ROW["model"], "custom_models": [row]})
        DeploymentSpec.model_validate(data)
        path.write_text(yaml.safe_dump(data), encoding="utf-8")
        sound_or_refused(path)


@pytest.mark.parametrize("name", ["-", "nowhere.yaml", ".", "", "a\0b", "/dev/null", "x" * 5000])
def test_a_path_to_no_specification_is_one_finding(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("plan", name)
    assert done.status == 1
    assert done.err.startswith("1 error, nothing was written.\n")
    assert done.err.count("PD001") == 1


def test_a_file_that_may_not_be_read_is_one_finding(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_text(REFERENCE, encoding="utf-8")

    def refuse(*_: object, **__: object) -> None:  # root may read everything, so the mode alone would show nothing
        raise PermissionError(EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    done = command("plan", str(path))
    assert done.status == 1
    assert "Permission denied" in done.err
