"""Time limits that are the deployment's, not the client's."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from readers.ray_session import ray_session
from support.gateway import CLIENT, KEY, PATH, RunningGateway, bearer
from support.serve_stub import ServeStub


def _headers() -> list[str]:
    with ray_session():
        from ray.serve._private import constants

    return [constants.SERVE_HTTP_REQUEST_TIMEOUT_S_HEADER, constants.SERVE_HTTP_REQUEST_DISCONNECT_DISABLED_HEADER]


@pytest.mark.parametrize("spelled", [str.lower, str.upper, str.title])
def test_no_client_sets_serves_limits(gateway: RunningGateway, stub: ServeStub, spelled: Callable[[str], str]) -> None:
    names = [spelled(name) for name in _headers()]
    before = len(stub.received)
    # Twice: the second one must go as well.
    twice = [(name, value) for name in names for value in ("3600", "?1")]
    answer = CLIENT.post(f"{gateway.url}{PATH}", json={}, headers=[*bearer(KEY).items(), *twice])
    assert answer.status_code == 200
    (received,) = stub.received[before:]
    assert [received.values(name) for name in names] == [[], []]
