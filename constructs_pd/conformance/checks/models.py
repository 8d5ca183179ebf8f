"""CF1xx: the model list."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from constructs_pd.conformance.check import check
from constructs_pd.conformance.outcome import require
from constructs_pd.conformance.session import Session

UNKNOWN = "no-such-model"


@check("CF101", "GET /models lists the model as an object of type model", "ListModelsResponse, Model")
def listed(session: Session) -> str:
    """Look for the model, and at the form of every entry."""
    data = session.endpoint.get("/models").require_data()
    require(data.get("object") == "list", "object: list", f"object: {data.get('object')!r}")
    entries = _entries(data)
    for entry in entries:
        require(entry.get("object") == "model", "object: model", entry)
        require(isinstance(entry.get("owned_by"), str), "owned_by as text", entry)
    names = [entry.get("id") for entry in entries]
    require(session.settings.model in names, f"{session.settings.model} in the list", names)
    return f"{len(names)} models"


@check("CF102", "Every entry of GET /models says when the model was created, as a Unix time", "Model.created")
def created(session: Session) -> str:
    """Look at `created` of every entry."""
    for entry in _entries(session.endpoint.get("/models").require_data()):
        require(type(entry.get("created")) is int, "created as a whole number", f"created: {entry.get('created')!r}")
    return "whole numbers"


@check("CF103", "GET /models/{model} describes the model", "GET /models/{model}")
def one(session: Session) -> str:
    """Ask for the one model."""
    data = session.endpoint.get(f"/models/{quote(session.settings.model)}").require_data()
    shown = f"id: {data.get('id')!r}, object: {data.get('object')!r}"
    require((data.get("id"), data.get("object")) == (session.settings.model, "model"), "the model's id", shown)
    return shown


@check("CF104", "GET /models/{model} of a model that does not exist is a 404", "GET /models/{model}")
def absent(session: Session) -> str:
    """Ask for a model that nobody has."""
    answer = session.endpoint.get(f"/models/{UNKNOWN}")
    require(answer.status == 404, "status 404", answer.shown)
    return "404"


@check("CF105", "OpenAI's client reads the model list", "openai.OpenAI().models.list")
def client(session: Session) -> str:
    """Let the client list the models."""
    openai = session.endpoint.openai
    names = session.endpoint.in_time(lambda: [model.id for model in openai.models.list()])
    require(session.settings.model in names, f"{session.settings.model} in the list", names)
    return f"{len(names)} models"


def _entries(data: Any) -> list[Any]:
    entries = data.get("data")
    require(isinstance(entries, list), "data as a list", f"data: {entries!r}")
    require(all(isinstance(entry, dict) for entry in entries), "entries that are objects", f"data: {entries!r}")
    return list(entries)


CHECKS = (listed, created, one, absent, client)
