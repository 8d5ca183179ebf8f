"""The same specification always gives the same bytes."""

from pathlib import Path

from support.processes import python


def written(output: Path, seed: str) -> dict[str, bytes]:
    done = python("apps/k8s_app.py", CDK8S_OUTDIR=str(output), PYTHONHASHSEED=seed)
    assert done.returncode == 0, done.stderr
    return {path.name: path.read_bytes() for path in output.iterdir()}


def test_two_processes_with_different_hash_seeds_write_the_same_bytes(tmp_path: Path) -> None:
    first = written(tmp_path / "first", "1")
    assert list(first) == ["qwen35-9b.k8s.yaml"]
    assert written(tmp_path / "second", "2") == first
