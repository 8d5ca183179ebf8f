"""One gateway with one stand-in of Ray Serve, for every test that changes neither."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.gateway import KEY, OTHER_KEY, RunningGateway, line_of, running_gateway
from support.serve_stub import ServeStub, serving

MAX_BODY_BYTES = 4096
HEADER_SECONDS = 1


@pytest.fixture(scope="session")
def stub() -> Iterator[ServeStub]:
    with serving() as running:
        yield running


@pytest.fixture(scope="session")
def gateway(stub: ServeStub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    with running_gateway(
        tmp_path_factory.mktemp("gateway"),
        stub.address,
        line_of("search", KEY) + line_of("mail", OTHER_KEY),
        requests_per_minute=100_000,
        concurrent_requests=200,
        max_body_bytes=MAX_BODY_BYTES,
        header_seconds=HEADER_SECONDS,
    ) as running:
        yield running
