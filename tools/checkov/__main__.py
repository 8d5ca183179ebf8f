"""Synthesize the reference deployment as strict as it can be, scan it, and say what nobody has accepted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from tools.checkov.judge import accepted, failures, judge

ROOT = Path(__file__).resolve().parents[2]
STRICT = Path(__file__).with_name("strict.yaml")


def main() -> int:
    """Return the exit status: 0 where everything that fails is accepted, and everything that is accepted fails."""
    (program,) = sys.argv[1:]
    with TemporaryDirectory() as folder:
        work = Path(folder)
        specification = work / "strict.yaml"
        specification.write_text(yaml.safe_dump(_strict()), encoding="utf-8")
        synth = [sys.executable, "tools/synth.py", str(specification), "--output", str(work / "out")]
        subprocess.run(synth, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        scanned = _collected(work)
        command = [program, "--directory", str(scanned), "--framework", "kubernetes", "cloudformation"]
        # Nothing is asked of any network: neither its makers' platform nor other people's modules.
        quiet = ["--output", "json", "--quiet", "--compact", "--skip-download"]
        report = subprocess.run([*command, *quiet], cwd=work, check=False, stdout=subprocess.PIPE, text=True)
    found = list(failures(json.loads(report.stdout)))
    wrong = judge(found, accepted())
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"checkov: {len(found)} failed checks, {len(wrong)} not explained or stale")
    return 1 if wrong else 0


def _strict() -> dict[str, Any]:
    reference = yaml.safe_load((ROOT / "apps" / "reference.yaml").read_text(encoding="utf-8"))
    return {**reference, **yaml.safe_load(STRICT.read_text(encoding="utf-8"))}


def _collected(work: Path) -> Path:
    """Return a folder with everything that was written, and the pods that only the operator would make."""
    scanned = work / "scanned"
    scanned.mkdir()
    for written in (*(work / "out" / "dist").glob("*.yaml"), *(work / "out" / "cdk.out").glob("*.template.json")):
        (scanned / written.name).write_text(written.read_text(encoding="utf-8"), encoding="utf-8")
    pods = [pod for file in scanned.glob("*.yaml") for pod in _pods(file)]
    (scanned / "pods.yaml").write_text(yaml.safe_dump_all(pods), encoding="utf-8")
    return scanned


def _pods(file: Path) -> list[dict[str, Any]]:
    """Return the pods of a RayService: checkov does not look into a custom resource."""
    services = [
        document
        for document in yaml.safe_load_all(file.read_text(encoding="utf-8"))
        if document and document["kind"] == "RayService"
    ]
    return [
        _pod(service, name, group["template"])
        for service in services
        for cluster in [service["spec"]["rayClusterConfig"]]
        for name, group in [
            ("head", cluster["headGroupSpec"]),
            *((group["groupName"], group) for group in cluster["workerGroupSpecs"]),
        ]
    ]


def _pod(service: dict[str, Any], name: str, template: dict[str, Any]) -> dict[str, Any]:
    named = {"name": f"{service['metadata']['name']}-{name}", "namespace": service["metadata"]["namespace"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {**template["metadata"], **named}, "spec": template["spec"]}


if __name__ == "__main__":
    sys.exit(main())
