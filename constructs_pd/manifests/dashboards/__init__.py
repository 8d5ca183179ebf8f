"""Grafana dashboards of a deployment, as the JSON that Grafana reads. They need the extra `observability`."""

try:
    import grafana_foundation_sdk  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        f"dashboards need {error.name}: pip install 'constructs-pd[observability]'", name=error.name
    ) from None

from constructs_pd.manifests.dashboards.rendering import dashboards

__all__ = ["dashboards"]
