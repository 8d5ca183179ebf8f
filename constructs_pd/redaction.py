"""Text that has the shape of a credential: it is refused where it stands and never shown."""

import re
from typing import Final

# Hugging Face user tokens, AWS access key ids, OpenAI-style keys: the prefixes that their issuers document.
_CREDENTIAL: Final = re.compile(r"\b(hf_[A-Za-z0-9]{16,}|A[KS]IA[0-9A-Z]{16}|sk-(proj-)?[A-Za-z0-9]{20,})")


def holds_credential(text: str) -> bool:
    """Return whether a part of the text has the shape of a credential."""
    return _CREDENTIAL.search(text) is not None


def redacted(text: str) -> str:
    """Return the text with every credential replaced."""
    return _CREDENTIAL.sub("[redacted]", text)
