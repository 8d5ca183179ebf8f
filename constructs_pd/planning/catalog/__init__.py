"""Dated, sourced facts about instances, images, models and versions, as data."""

from constructs_pd.planning.catalog.loader import Catalog, load_catalog

__all__ = ["Catalog", "load_catalog"]
