"""Addresses that somebody states: refused where no request could be sent there, or where they hold a secret."""

from __future__ import annotations

from urllib.parse import urlsplit

from constructs_pd.conformance.problems import ADDRESS, EndpointError


def require_address(url: str, subject: str, remedy: str = ADDRESS.remedy) -> None:
    """Refuse what is no http or https address, or carries a user or a password.

    Args:
        url: The address.
        subject: What it is called in a message.
        remedy: How to write it.

    Raises:
        EndpointError: It is refused.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
        # What DNS takes: no empty label, and none of more than 63 bytes.
        (parts.hostname or "").encode("idna")
    except ValueError as error:
        raise EndpointError(ADDRESS, subject, f"{_shown(url)} is no address: {error}", remedy) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise EndpointError(ADDRESS, subject, f"{_shown(url)} is no http or https address", remedy)
    if parts.username or parts.password:
        shown = f"{parts.scheme}://{parts.hostname}"
        raise EndpointError(ADDRESS, shown, "it carries a user or a password", "pass a key with --api-key-env")


def _shown(url: str) -> str:
    """Return an address without what may be a user and a password."""
    scheme, separator, rest = url.rpartition("@")
    return repr(f"...{separator}{rest}" if scheme else url)
