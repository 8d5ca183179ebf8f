"""The Lambda layer with kubectl and Helm that fits a Kubernetes version."""

from __future__ import annotations

from importlib import import_module

from aws_cdk import aws_lambda
from constructs import Construct

from constructs_pd.composition import refusal
from constructs_pd.planning.codes import KUBECTL_LAYER


def kubectl_layer(construct: Construct, kubernetes_version: str) -> aws_lambda.ILayerVersion:
    """Return the layer of the same minor version; AWS publishes each in a package of its own.

    Raises:
        PlanError: The package is not installed (PD517).
    """
    minor = kubernetes_version.partition(".")[2]
    try:
        package = import_module(f"aws_cdk.lambda_layer_kubectl_v{minor}")
    except ModuleNotFoundError:
        raise refusal(
            KUBECTL_LAYER,
            construct.node,
            f"the cluster is of {kubernetes_version}, and no kubectl {kubernetes_version} is installed",
            f"pip install aws-cdk.lambda-layer-kubectl-v{minor}, or pass kubectl_layer",
        ) from None
    layer: aws_lambda.ILayerVersion = getattr(package, f"KubectlV{minor}Layer")(construct, "Kubectl")
    return layer
