from pathlib import Path

import pytest

from constructs_pd.planning.yaml_lines import YamlFileError, parse_yaml

# Eight levels of eight aliases each: sixteen million values in nine lines.
BOMB = "l0: &l0 [x]\n" + "".join(
    f"l{level}: &l{level} [{', '.join([f'*l{level - 1}'] * 8)}]\n" for level in range(1, 9)
)


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_knows_the_line_of_every_field(tmp_path: Path) -> None:
    path = written(tmp_path, "a: 1\nb:\n  c: 2\n  d:\n  - e: 3\n  - 4\n")
    document = parse_yaml(path)
    assert document.data == {"a": 1, "b": {"c": 2, "d": [{"e": 3}, 4]}}
    assert document.lines == {"a": 1, "b": 2, "b.c": 3, "b.d": 4, "b.d.0": 5, "b.d.0.e": 5, "b.d.1": 6}


def test_locates_a_missing_field_at_its_nearest_ancestor(tmp_path: Path) -> None:
    path = written(tmp_path, "a: 1\nb:\n  c: 2\n")
    document = parse_yaml(path)
    assert document.location("b.x.y") == f"{path}:2"
    assert document.location("x") == str(path)


@pytest.mark.parametrize("number", ["0", "-1", "+7", "1000000", "1.5", "'010'"])
def test_allows_decimal_numbers_and_quoted_text(tmp_path: Path, number: str) -> None:
    assert set(parse_yaml(written(tmp_path, f"a: {number}\n")).data) == {"a"}


def test_allows_anchors_and_merges(tmp_path: Path) -> None:
    document = parse_yaml(written(tmp_path, "a: &a {x: 1}\nb: &b {y: 2}\nc:\n  <<: *a\n  z: 3\nd:\n  <<: [*a, *b]\n"))
    assert document.data["c"] == {"x": 1, "z": 3}
    assert document.data["d"] == {"x": 1, "y": 2}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "does not hold a mapping"),
        ("- a\n", None, "does not hold a mapping"),
        ("a: 1\nb: [\n", 3, "is not YAML"),
        ("a: 1\na: 2\n", 2, "'a' twice"),
        ("a:\n  b: 1\n  c: 1\n  b: 2\n", 4, "'b' twice"),
        ("a: &a\n  b: *a\n", None, "refers to itself"),
        (BOMB, None, "more than 100,000 values"),
        ("1: a\n", 1, "does not read as text: '1'"),
        ("a:\n  yes: 1\n", 2, "does not read as text: 'yes'"),
        ("a:\n- ~: 1\n", 2, "does not read as text"),
        ("a: 010\n", 1, "reads as another: 010"),
        ("a: 1:30\n", 1, "reads as another: 1:30"),
        ("a: 0x10\n", 1, "reads as another: 0x10"),
        ("a: 1_000\n", 1, "reads as another: 1_000"),
        ("a: !!python/object/apply:os.getcwd []\n", 1, "is not YAML"),
        ("a: 2026-99-99\n", None, "is not YAML"),
        ('a: {b: "\\ud800"}\n', 1, "half of a UTF-16 pair"),
        ('a: 1\n"\\udfff": 1\n', 2, "half of a UTF-16 pair"),
        ("a: " + "b" * 5_000_000, None, "holds more than 5,000,000 bytes"),
        ("a: 1\n---\nb: 2\n", 2, "is not YAML"),
        ("a: \x07\n", None, "is not YAML"),
        (b"\xff\xfe", None, "is not UTF-8"),
        ("[" * 5000, None, "nested too deeply"),
        ("{[a]: 1}\n", 1, "is not YAML"),
    ],
)
def test_refuses_what_is_not_one_mapping_with_unique_keys(
    tmp_path: Path, text: str | bytes, line: int | None, message: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(YamlFileError, match=message) as caught:
        parse_yaml(path)
    assert caught.value.location == (f"{path}:{line}" if line else str(path))


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_refuses_what_cannot_be_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(YamlFileError, match="cannot be read"):
        parse_yaml(tmp_path / name)
