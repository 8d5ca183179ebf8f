"""How the readers call Ray: in this process, without starting it, quietly, and with the vLLM stand-in."""

import importlib
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from unittest import mock

from constructs_pd.rehearsal.mock import vllm_stand_in

VLLM_VERSION = "0.26.0"
_DATA = Path(__file__).parent / "data"


@contextmanager
def ray_session() -> Iterator[None]:
    """Allow `ray.serve.llm` to be imported and called inside, and leave warnings and logging as they were.

    Importing Ray raises deprecation warnings of pydantic's, replaces the root logger's handlers (pytest's
    too) and logs every deployment's options.
    """
    root = logging.getLogger()
    handlers, level, disabled = root.handlers, root.level, logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            os.environ[vllm_stand_in.ENGINE_ARGUMENTS_VARIABLE] = ",".join(argument_names("engine"))
            os.environ[vllm_stand_in.FRONTEND_ARGUMENTS_VARIABLE] = ",".join(argument_names("frontend"))
            vllm_stand_in.install()
            # First of all, so that a missing dependency does not pass for a refusal of Ray's. FastAPI asks for
            # the second one only when the ingress is built.
            importlib.import_module("ray.llm._internal.serve.serving_patterns.prefill_decode.builder")
            importlib.import_module("python_multipart")
            # Some of Ray's functions would otherwise start Ray when called.
            with mock.patch("ray._private.auto_init_hook.enable_auto_connect", False):
                yield
    finally:
        root.handlers = handlers
        root.setLevel(level)
        logging.disable(disabled)


@cache
def argument_names(group: str) -> tuple[str, ...]:
    """Return the names of vLLM's "engine" or "frontend" arguments."""
    return tuple((_DATA / f"vllm-{VLLM_VERSION}-{group}-args.txt").read_text(encoding="utf-8").split())
