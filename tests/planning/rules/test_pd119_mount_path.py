import pytest

from constructs_pd.planning.rules.pd119_mount_path import RULE
from support.rules import findings_of


@pytest.mark.parametrize(
    "path", ["/models", "/mnt/weights", "/optional", "/opt/ml/model", "/root/.cache/huggingface", "/tmp/weights"]
)
def test_accepts_folders_of_their_own(path: str) -> None:
    assert findings_of(RULE, {"model_cache": {"claim_name": "weights", "mount_path": path}}) == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/dev/shm", "'/dev/shm' lies in '/dev'"),
        ("/opt/venv/lib", "'/opt/venv/lib' lies in '/opt/venv'"),
        ("/usr", "'/usr' lies in '/usr'"),
        ("/opt", "'/opt' hides '/opt/venv'"),
        ("/tmp", "'/tmp' hides '/tmp/ray'"),
        ("/root", "'/root' hides '/root'"),
    ],
)
def test_refuses_folders_that_the_container_needs(path: str, message: str) -> None:
    (finding,) = findings_of(RULE, {"model_cache": {"claim_name": "weights", "mount_path": path}})
    assert finding.message == message


def test_says_nothing_without_a_volume() -> None:
    assert findings_of(RULE, {"model_cache": None}) == []
