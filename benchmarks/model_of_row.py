"""The model that a published row is of."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.models import ModelFacts, model_facts


class OfModel(BaseModel):
    """A row about a model.

    Attributes:
        model: A model of the catalogue; or
        config: the part of its config.json that counts.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str | None = None
    config: dict[str, Any] | None = None

    @property
    def facts(self) -> ModelFacts:
        """The model's facts."""
        if self.config is not None:
            return model_facts(self.config)
        assert self.model is not None
        facts = load_catalog().models[self.model].facts
        assert facts is not None
        return facts
