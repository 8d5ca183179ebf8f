"""Addresses that somebody states: refused where no request could be sent there, or where they may hold a secret."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

from constructs_pd.conformance.problems import ADDRESS, EndpointError

_PORTS: Final = {"http": 80, "https": 443}


def require_address(url: str, subject: str, remedy: str = ADDRESS.remedy) -> None:
    """Refuse what is no http or https address, or carries a user, a password, a query, a fragment or white space.

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
    carried = _carried(url, parts)
    if carried is not None:
        # What it carries may be a secret.
        raise EndpointError(ADDRESS, f"{parts.scheme}://{parts.hostname}", f"it carries {carried[0]}", carried[1])


def is_same_address(url: str, other: str) -> bool:
    """Return whether two addresses that are accepted are spelled otherwise at most."""
    return _spelled(url) == _spelled(other)


def port_of(parts: SplitResult) -> int:
    """Return the port of an address that is accepted: the stated one, or its scheme's."""
    return parts.port or _PORTS[parts.scheme]


def _spelled(url: str) -> tuple[str, str, int, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", port_of(parts), parts.path.rstrip("/")


def _carried(url: str, parts: SplitResult) -> tuple[str, str] | None:
    """Return what an address should not have, and what to do."""
    if parts.username is not None or parts.password is not None:
        return "a user or a password", "pass a key with --api-key-env"
    if "#" in url:
        return "a fragment", "leave out # and what follows"
    if "?" in url:
        return "a query", "leave out ? and what follows; --api-key-env passes the endpoint's key"
    # urlsplit drops some of it.
    if not url.isprintable() or " " in url:
        return "white space, or what cannot be printed", "write it without"
    return None


def _shown(url: str) -> str:
    """Return an address without what may be a user, a password, or a key."""
    before, separator, rest = url.rpartition("@")
    shown = re.sub(r"[?#].*", "...", rest, flags=re.DOTALL)
    return repr(f"...{separator}{shown}" if before else shown)
