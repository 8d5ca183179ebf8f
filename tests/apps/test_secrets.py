"""No secret is written or printed: neither one of the machine that synthesizes, nor one that a specification holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from support.gateway import GATEWAY
from support.processes import python
from support.specs import CERTIFICATE, OIDC, changed, reference_data

# What a machine that builds may hold. Each value occurs nowhere else.
PLANTED: dict[str, Any] = {
    "AWS_ACCESS_KEY_ID": "AKIAPLANTED012345678",
    "AWS_SECRET_ACCESS_KEY": "planted/secret/access/key/of/the/machine",
    "AWS_SESSION_TOKEN": "planted-session-token-of-the-machine",
    "GATEWAY_KEY": "planted" + "0123456789abcdef" * 3,
    "HF_TOKEN": "hf_plantedplantedplantedplanted",
    "HUGGING_FACE_HUB_TOKEN": "hf_plantedagainplantedagain",
    "LOGIN": "sk-plantedloginplantedlogin",
    "OPENAI_API_KEY": "sk-plantedplantedplantedplanted",
    "RAY_AUTH_TOKEN": "planted-token-of-ray",
    "REDIS_PASSWORD": "planted-password-of-redis",
    "WANDB_API_KEY": "planted-key-of-wandb",
}
REFERENCES: dict[str, Any] = {
    "gcs_fault_tolerance": {
        "redis_address": "redis.cache:6379",
        "redis_password": {"secret_name": "redis", "key": "password"},
    },
    "decode.pod.secret_environment": {"WANDB_API_KEY": {"secret_name": "wandb", "key": "key"}},
    "ray_authentication": "token",
    "endpoint.exposure": "internet_alb",
    "endpoint.balancer": {"certificate_arn": CERTIFICATE, "access_logs": {"bucket": "acme-logs"}, "oidc": OIDC},
    "endpoint.gateway": GATEWAY,
}
# Where a secret may be put by mistake, each with the code of the refusal.
LITERAL: dict[str, tuple[dict[str, Any], str]] = {
    "token": ({"hugging_face_token": PLANTED["HF_TOKEN"]}, "PD005"),
    "password": (
        {"gcs_fault_tolerance": {"redis_address": "redis:6379", "redis_password": PLANTED["REDIS_PASSWORD"]}},
        "PD005",
    ),
    "named variable": ({"decode.pod.environment": {"WANDB_API_KEY": PLANTED["WANDB_API_KEY"]}}, "PD110"),
    "other variable": ({"decode.pod.environment": {"SETTINGS": f"a={PLANTED['OPENAI_API_KEY']}"}}, "PD106"),
    "annotation": ({"head.pod.annotations": {"example.com/a": PLANTED["AWS_ACCESS_KEY_ID"]}}, "PD106"),
    "key of the gateway": ({"endpoint.gateway": {**GATEWAY, "api_keys_secret": PLANTED["GATEWAY_KEY"]}}, "PD005"),
    "name of the gateway's Secret": (
        {"endpoint.gateway": {**GATEWAY, "api_keys_secret": {"secret_name": PLANTED["GATEWAY_KEY"]}}},
        "PD140",
    ),
    "secret of a login": (
        {"endpoint.balancer": {"certificate_arn": CERTIFICATE, "oidc": {**OIDC, "client_secret": PLANTED["LOGIN"]}}},
        "PD002",
    ),
    "name of a login's Secret": (
        {"endpoint.balancer": {"certificate_arn": CERTIFICATE, "oidc": {**OIDC, "secret_name": PLANTED["LOGIN"]}}},
        "PD106",
    ),
    "token of ray": ({"head.pod.environment": {"RAY_AUTH_TOKEN": PLANTED["RAY_AUTH_TOKEN"]}}, "PD109"),
}


def written(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def assert_nothing_planted(*texts: str, files: dict[str, bytes] | None = None) -> None:
    for name, value in PLANTED.items():
        assert [name for text in texts if value in text] == []
        assert [(name, path) for path, content in (files or {}).items() if value.encode() in content] == []


def specification(folder: Path, changes: dict[str, Any]) -> Path:
    path = folder / "spec.yaml"
    path.write_text(yaml.safe_dump(changed(reference_data(), changes)), encoding="utf-8")
    return path


def test_what_is_written_holds_references_alone(tmp_path: Path) -> None:
    output = tmp_path / "out"
    done = python("tools/synth.py", str(specification(tmp_path, REFERENCES)), "--output", str(output), **PLANTED)
    assert done.returncode == 0, done.stderr
    files = written(output)
    assert {path.partition("/")[0] for path in files} == {"dist", "cdk.out"}
    assert_nothing_planted(done.stdout, done.stderr, files=files)
    manifests = files["dist/qwen35-9b.k8s.yaml"].decode()
    assert manifests.count("secretKeyRef") >= 4
    # The Secrets themselves are the user's, or KubeRay's.
    assert "kind: Secret\n" not in manifests


@pytest.mark.parametrize("arguments", [("--json",), ()])
def test_nor_does_the_plan_say_any(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    path = specification(tmp_path, REFERENCES)
    program = "import sys; from constructs_pd.cli.main import main; sys.exit(main())"
    done = python("-c", program, "plan", str(path), *arguments, **PLANTED)
    assert done.returncode == 0
    assert "qwen35-9b" in done.stdout
    assert_nothing_planted(done.stdout, done.stderr)


@pytest.mark.parametrize(("changes", "code"), LITERAL.values(), ids=LITERAL)
def test_one_that_is_given_literally_is_refused_and_not_repeated(
    tmp_path: Path, changes: dict[str, Any], code: str
) -> None:
    output = tmp_path / "out"
    done = python("tools/synth.py", str(specification(tmp_path, changes)), "--output", str(output))
    assert done.returncode == 1
    assert f"{code} error" in done.stderr
    assert_nothing_planted(done.stdout, done.stderr)
    assert not output.exists()


def test_the_planted_values_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "leak.yaml").write_text(f"token: {PLANTED['HF_TOKEN']}\n", encoding="utf-8")
    with pytest.raises(AssertionError):
        assert_nothing_planted(files=written(tmp_path))
    with pytest.raises(AssertionError):
        assert_nothing_planted(f"using {PLANTED['HF_TOKEN']}")
