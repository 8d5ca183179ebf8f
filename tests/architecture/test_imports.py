"""What may import what. Each case runs in a process of its own and looks at what is loaded."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from support.processes import ROOT, python
from support.specs import REFERENCE_FILE

PACKAGE = ROOT / "constructs_pd"
NODE = {"jsii", "constructs", "cdk8s", "cdk8s_plus_28", "aws_cdk"}

# A folder of the package, and the folders below which it stands: arrows point one way.
ALLOWED = {
    "redaction.py": set[str](),
    "findings.py": {"redaction"},
    "planning": {"findings", "redaction", "planning"},
    "manifests": {"findings", "planning", "manifests"},
    "composition.py": {"findings", "planning"},
    "conformance": {"findings", "redaction", "conformance"},
    "rehearsal": {"findings", "planning", "manifests", "conformance", "rehearsal"},
    "cli": {"findings", "planning", "conformance", "rehearsal", "cli"},
    "k8s": {"findings", "planning", "manifests", "composition", "k8s"},
    "aws": {"findings", "planning", "composition", "aws"},
}


def loaded_after(code: str) -> set[str]:
    done = python("-c", f"{code}\nimport sys; print(*{{name.split('.')[0] for name in sys.modules}})")
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_planning_a_deployment_starts_no_node_process() -> None:
    loaded = loaded_after(f"import constructs_pd; constructs_pd.plan_file({str(REFERENCE_FILE)!r})")
    assert "pydantic" in loaded
    assert not loaded & NODE


def test_the_command_line_starts_no_node_process_and_a_pipe_needs_no_rich() -> None:
    code = f"from constructs_pd.cli.main import main\nmain(['plan', {str(REFERENCE_FILE)!r}, '--json'])"
    loaded = loaded_after(code)
    assert "pydantic" in loaded
    assert not loaded & {*NODE, "rich"}


def test_rendering_plain_data_starts_no_node_process() -> None:
    code = (
        "import constructs_pd\n"
        "from constructs_pd.manifests.ray_service import ray_service_spec\n"
        "from constructs_pd.manifests.load_balancer import ingress_annotations\n"
        f"plan = constructs_pd.plan_file({str(REFERENCE_FILE)!r})\n"
        "ray_service_spec(plan); ingress_annotations(plan, plan.endpoint.balancer)"
    )
    assert not loaded_after(code) & NODE


def test_monitoring_loads_the_library_of_dashboards_only_to_make_some() -> None:
    code = (
        "import constructs_pd, yaml, cdk8s\n"
        f"stated = yaml.safe_load(open({str(REFERENCE_FILE)!r}))\n"
        "stated['monitoring'] = {'dashboards': {}} if WANTED else {}\n"
        "plan = constructs_pd.plan(constructs_pd.parse_spec(stated))\n"
        "constructs_pd.DeploymentMonitoring(cdk8s.Chart(cdk8s.App(), 'chart'), 'monitoring', plan=plan)"
    )
    assert "grafana_foundation_sdk" not in loaded_after(f"WANTED = False\n{code}")
    assert "grafana_foundation_sdk" in loaded_after(f"WANTED = True\n{code}")


def test_the_kubernetes_half_does_not_load_the_aws_half() -> None:
    loaded = loaded_after("import constructs_pd; constructs_pd.RayLlmCluster")
    assert {"jsii", "cdk8s", "cdk8s_plus_28"} <= loaded
    assert "aws_cdk" not in loaded


def test_the_aws_half_does_not_load_the_kubernetes_half() -> None:
    loaded = loaded_after("import constructs_pd; constructs_pd.EksGpuNodeGroups")
    assert {"jsii", "aws_cdk"} <= loaded
    assert not loaded & {"cdk8s", "cdk8s_plus_28"}


def test_importing_the_package_loads_next_to_nothing() -> None:
    loaded = loaded_after("import constructs_pd")
    assert not loaded & {*NODE, "pydantic", "yaml"}


def test_the_command_line_loads_the_http_clients_only_to_check_an_endpoint() -> None:
    assert not loaded_after("import constructs_pd.cli.main") & {*NODE, "httpx", "httpx2", "openai"}


@pytest.mark.parametrize(
    ("module", "missing", "half", "extra"),
    [
        ("k8s", "cdk8s", "Kubernetes", "k8s"),
        ("k8s.ray_llm_cluster", "cdk8s_plus_28", "Kubernetes", "k8s"),
        ("aws", "aws_cdk", "AWS", "aws"),
        ("aws.eks_gpu_node_groups", "aws_cdk", "AWS", "aws"),
    ],
)
def test_a_missing_extra_is_named_with_the_command_that_installs_it(
    module: str, missing: str, half: str, extra: str
) -> None:
    done = python("-c", f"import sys; sys.modules[{missing!r}] = None; import constructs_pd.{module}")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last == f"ImportError: the {half} constructs need {missing}: pip install 'constructs-pd[{extra}]'"


def test_public_names_are_all_there_and_an_unknown_one_is_an_attribute_error() -> None:
    code = (
        "import constructs_pd as p\n"
        "assert dir(p) == sorted(p.__all__)\n"
        "for name in p.__all__: assert getattr(p, name).__name__ == name\n"
        "try: p.Nothing\nexcept AttributeError as error: assert 'Nothing' in str(error)\n"
        "else: raise SystemExit(1)"
    )
    done = python("-c", code)
    assert done.returncode == 0, done.stderr


def test_every_folder_imports_only_what_stands_below_it() -> None:
    homes = {path.name for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert homes == {*ALLOWED, "__init__.py"}
    for home, allowed in ALLOWED.items():
        files = [PACKAGE / home] if home.endswith(".py") else sorted((PACKAGE / home).rglob("*.py"))
        for file in files:
            assert _own_imports(file) <= allowed, file


def _own_imports(file: Path) -> set[str]:
    modules = [
        node.module
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module
    ]
    return {module.split(".")[1] for module in modules if module.startswith("constructs_pd.")}
