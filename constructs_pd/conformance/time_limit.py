"""A limit on how long something takes that cannot be interrupted."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

_Result = TypeVar("_Result")


def within(seconds: float, act: Callable[[], _Result]) -> _Result:
    """Return what a function returns, or raise what it raises.

    Raises:
        TimeoutError: It takes longer. It goes on in a thread of its own, which does not keep the process alive.
    """
    done: Future[_Result] = Future()

    def run() -> None:
        try:
            done.set_result(act())
        except BaseException as error:
            done.set_exception(error)

    Thread(target=run, daemon=True).start()
    return done.result(seconds)
