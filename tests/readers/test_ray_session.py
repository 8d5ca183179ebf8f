"""With the stand-in, Ray finds of vLLM what it reads, and fails where vLLM would."""

import importlib
import logging
import warnings

import pytest

from readers.ray_session import ray_session


@pytest.fixture(autouse=True)
def _installed() -> None:
    with ray_session():
        pass


def test_takes_known_arguments_only() -> None:
    arguments = importlib.import_module("vllm.engine.arg_utils").AsyncEngineArgs
    assert arguments(max_model_len=1).max_model_len == 1
    with pytest.raises(TypeError, match="max_model_length"):
        arguments(max_model_length=1)


@pytest.mark.parametrize("module", ["vllm.engine.async_llm", "vllm.nowhere"])
def test_has_no_other_modules(module: str) -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(module)


def test_has_no_other_names() -> None:
    assert not hasattr(importlib.import_module("vllm"), "LLM")


def test_a_session_leaves_logging_and_warnings_alone() -> None:
    root = logging.getLogger()
    before = (list(root.handlers), root.level, logging.root.manager.disable, list(warnings.filters))
    with ray_session():
        importlib.import_module("ray.serve.llm")
    assert (list(root.handlers), root.level, logging.root.manager.disable, list(warnings.filters)) == before
