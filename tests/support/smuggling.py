"""Requests that two servers could read differently."""

from __future__ import annotations

from support.gateway import KEY, PATH

AUTHORIZATION = f"Authorization: Bearer {KEY}\r\n"
OPEN_HEAD = f"POST {PATH} HTTP/1.1\r\nHost: a\r\n{AUTHORIZATION}"
# Closed after the answer, so that nobody waits for another one.
HEAD = f"{OPEN_HEAD}Connection: close\r\n"
INNER = f"GET /smuggled HTTP/1.1\r\nHost: a\r\n{AUTHORIZATION}\r\n"
CHUNKED_INNER = f"{len(INNER):x}\r\n{INNER}\r\n0\r\n\r\n"

REFUSED = {
    "CL.TE": (f"{HEAD}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG", 411),
    "TE.CL": (f"{HEAD}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n{CHUNKED_INNER}", 411),
    "chunked alone": (f"{HEAD}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
    "chunked after a tab": (f"{HEAD}Transfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n", 411),
    "chunked in HTTP/1.0": (f"{HEAD}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n".replace("/1.1", "/1.0"), 411),
    "unknown coding": (f"{HEAD}Transfer-Encoding: xchunked\r\nContent-Length: 2\r\n\r\n{{}}", 400),
    "coding after chunked": (f"{HEAD}Transfer-Encoding: chunked, identity\r\nContent-Length: 2\r\n\r\n{{}}", 400),
    "space before the colon": (f"{HEAD}Transfer-Encoding : chunked\r\nContent-Length: 2\r\n\r\n{{}}", 400),
    "folded coding": (f"{HEAD}Transfer-Encoding:\r\n chunked\r\nContent-Length: 2\r\n\r\n{{}}", 400),
    "two lengths": (f"{HEAD}Content-Length: 2\r\nContent-Length: {len(INNER)}\r\n\r\n{INNER}", 400),
    "two lengths in one": (f"{HEAD}Content-Length: 2, {len(INNER)}\r\n\r\n{INNER}", 400),
    "length with a sign": (f"{HEAD}Content-Length: +2\r\n\r\n{{}}", 400),
    "negative length": (f"{HEAD}Content-Length: -2\r\n\r\n{{}}", 400),
    "length beyond 64 bits": (f"{HEAD}Content-Length: 99999999999999999999\r\n\r\n{{}}", 400),
    "bare carriage return": (f"{HEAD}A: b\rContent-Length: 50\r\nContent-Length: 2\r\n\r\n{{}}", 400),
    "NUL in a header": (f"{HEAD}A: b\0c\r\nContent-Length: 2\r\n\r\n{{}}", 400),
    "two hosts": (f"{HEAD}Host: b\r\nContent-Length: 2\r\n\r\n{{}}", 400),
    "host of another URI": (f"{HEAD}Content-Length: 2\r\n\r\n{{}}".replace(PATH, f"http://b{PATH}"), 400),
    "HTTP/0.9": ("GET /v1/models\r\n\r\n", 400),
    "HTTP/2 without TLS": ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
}
# What HAProxy reads in one way only, and passes on in a form that leaves no other.
NORMALIZED = {
    "equal lengths": f"{HEAD}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{{}}",
    "equal lengths in one": f"{HEAD}Content-Length: 2, 2\r\n\r\n{{}}",
    "folded header": f"{HEAD}A: b\r\n Content-Length: 50\r\nContent-Length: 2\r\n\r\n{{}}",
    "bare line feed": f"{HEAD}A: b\nContent-Length: 2\r\n\r\n{{}}",
    "bare line feeds only": f"{HEAD}A: b\nContent-Length: 2\r\n\r\n{{}}".replace("\r\n", "\n"),
}
