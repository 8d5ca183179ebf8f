"""The two ways to ask for text, chat and completions, behind one face."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Final


class Surface(ABC):
    """A path of the API that generates text."""

    name: str
    path: str
    object: str
    chunk_object: str

    @abstractmethod
    def prompt(self, text: str) -> dict[str, Any]:
        """Return the part of a request that holds the prompt."""

    @abstractmethod
    def text(self, choice: Any) -> str:
        """Return the text of an answer's choice."""

    @abstractmethod
    def delta(self, choice: Any) -> str:
        """Return the text of a chunk's choice."""


class Chat(Surface):
    """POST /chat/completions."""

    name = "chat"
    path = "/chat/completions"
    object = "chat.completion"
    chunk_object = "chat.completion.chunk"

    def prompt(self, text: str) -> dict[str, Any]:
        """Return one user message."""
        return {"messages": [{"role": "user", "content": text}]}

    def text(self, choice: Any) -> str:
        """Return what was thought, where an endpoint splits that off, and what was said."""
        return _said(choice.get("message"))

    def delta(self, choice: Any) -> str:
        """Return the same of a chunk."""
        return _said(choice.get("delta"))


class Completions(Surface):
    """POST /completions."""

    name = "completions"
    path = "/completions"
    object = "text_completion"
    chunk_object = "text_completion"

    def prompt(self, text: str) -> dict[str, Any]:
        """Return the prompt as it is."""
        return {"prompt": text}

    def text(self, choice: Any) -> str:
        """Return the text."""
        return str(choice.get("text") or "")

    def delta(self, choice: Any) -> str:
        """Return the text of a chunk: it has the shape of an answer."""
        return self.text(choice)


def _said(message: Any) -> str:
    if not isinstance(message, dict):
        return ""
    # Engines name it either way where they have a reasoning parser; OpenAI's API has no such field.
    thought = message.get("reasoning") or message.get("reasoning_content") or ""
    return f"{thought}{message.get('content') or ''}"


CHAT: Final = Chat()
COMPLETIONS: Final = Completions()
SURFACES: Final[tuple[Surface, ...]] = (CHAT, COMPLETIONS)
