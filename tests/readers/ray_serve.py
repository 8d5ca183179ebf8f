"""A serveConfigV2 document as Ray reads it: validated by Ray's classes and built by Ray's builder.

It takes the steps of the dashboard and the Serve controller, up to the point where processes would start,
and keeps what Ray would then schedule. `unknown_keys` is the complement: what Ray reads past in silence.
Neither sees the values of engine arguments, which vLLM checks only when the engine starts.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest import mock

import yaml
from pydantic import ValidationError

from .ray_session import ray_session
from .serve_config_keys import unknown_keys

if TYPE_CHECKING:
    from ray.serve._private.deployment_info import DeploymentInfo
    from ray.serve.schema import ServeApplicationSchema

__all__ = ["BuiltDeployment", "RayRefusal", "build", "unknown_keys"]


class RayRefusal(ValueError):  # noqa: N818  # a verdict, not a fault of the reader
    """Ray does not accept the document; the message is Ray's own."""


@dataclass(frozen=True)
class BuiltDeployment:
    """One deployment of the application graph, as Ray would schedule each of its replicas."""

    name: str
    #: None where Ray autoscales; the bounds are in deployment_options["autoscaling_config"].
    num_replicas: int | None
    #: Empty where Ray makes no placement group; the replica is then one actor with ray_actor_options.
    bundles: tuple[dict[str, float], ...]
    placement_strategy: str | None
    ray_actor_options: dict[str, Any]
    is_ingress: bool
    #: Every other option of the deployment, with Ray's defaults filled in.
    deployment_options: dict[str, Any]


def build(serve_config: str | dict[str, Any]) -> tuple[BuiltDeployment, ...]:
    """Return every deployment of every application in the document, or raise RayRefusal."""
    with ray_session(), _refusals():
        from ray.serve.schema import ServeDeploySchema

        document = yaml.safe_load(serve_config) if isinstance(serve_config, str) else deepcopy(serve_config)
        schema = ServeDeploySchema.model_validate(document)
        infos = [item for application in schema.applications for item in _deploy(application).items()]
    return tuple(_built(name, info) for name, info in infos)


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise RayRefusal(_message(error)) from error


def _message(error: BaseException) -> str:
    """Return Ray's message with the causes that its validators leave out of it."""
    messages = [f"{type(error).__name__}: {error}"]
    causes = [error.__cause__]
    if isinstance(error, ValidationError):
        contexts = [detail.get("ctx", {}) for detail in error.errors()]
        causes += [context["error"].__cause__ for context in contexts if "error" in context]
    messages += [_message(cause) for cause in causes if cause is not None]
    return "\ncaused by ".join(messages)


def _deploy(application: "ServeApplicationSchema") -> dict[str, "DeploymentInfo"]:
    from ray._common.utils import import_attr
    from ray.runtime_env import RuntimeEnv
    from ray.serve._private.api import call_user_app_builder_with_args_if_necessary
    from ray.serve._private.application_state import override_deployment_info
    from ray.serve._private.build_app import build_app
    from ray.serve._private.deploy_utils import deploy_args_to_deployment_info, get_deploy_args
    from ray.serve.llm import build_pd_openai_app

    builder = import_attr(application.import_path)
    if builder is build_pd_openai_app:
        _validate_phases(application.args)
    with _task_context(application.runtime_env):
        built = build_app(
            call_user_app_builder_with_args_if_necessary(builder, deepcopy(application.args)),
            name=application.name,
            default_runtime_env=deepcopy(application.runtime_env),
        )
        built.validate_single_fastapi_ingress()
        infos: dict[str, DeploymentInfo] = {}
        for deployment in built.deployments:
            is_ingress = deployment.name == built.ingress_deployment_name
            arguments = get_deploy_args(
                name=deployment.name,
                replica_config=deployment._replica_config,
                ingress=is_ingress,
                deployment_config=deployment._deployment_config,
                route_prefix="/" if is_ingress else None,
            )
            infos[deployment.name] = deploy_args_to_deployment_info(**arguments, app_name=application.name)
    infos = override_deployment_info(infos, application)
    for info in infos.values():
        RuntimeEnv(**info.replica_config.ray_actor_options.get("runtime_env", {}))  # As for each actor.
    return infos


def _validate_phases(arguments: dict[str, Any]) -> None:
    """Ask for what a replica asks of its configuration, as the builder does not."""
    from ray.llm._internal.serve.serving_patterns.prefill_decode.builder import PDServingArgs

    serving: Any = PDServingArgs.model_validate(deepcopy(arguments))
    for phase in (serving.prefill_config, serving.decode_config):
        engine = phase.get_engine_config()
        engine.get_initialization_kwargs()
        _ = engine.placement_bundles


@contextmanager
def _task_context(runtime_env: dict[str, Any]) -> Iterator[None]:
    """Stand in for the task in which Ray runs the builder, whose runtime_env is the application's.

    The real `ray.get_runtime_context` would start Ray.
    """

    class Context:
        def get_job_id(self) -> str:
            return "01000000"

        @property
        def runtime_env(self) -> dict[str, Any]:
            return deepcopy(runtime_env)  # The builder adds to it.

    with mock.patch("ray.get_runtime_context", Context):
        yield


def _built(name: str, info: "DeploymentInfo") -> BuiltDeployment:
    replica = info.replica_config
    config = info.deployment_config
    options = config.model_dump(mode="json", exclude={"user_configured_option_names", "version"})
    replicas = options.pop("num_replicas")
    return BuiltDeployment(
        name=name,
        num_replicas=None if options["autoscaling_config"] else replicas,
        bundles=tuple(replica.placement_group_bundles or ()),
        placement_strategy=replica.placement_group_strategy,
        ray_actor_options=replica.ray_actor_options,
        is_ingress=info.ingress,
        deployment_options=options
        | {
            "route_prefix": info.route_prefix,
            "max_replicas_per_node": replica.max_replicas_per_node,
            "placement_group_bundle_label_selector": replica.placement_group_bundle_label_selector,
        },
    )
