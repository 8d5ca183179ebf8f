"""The config.json files that aiconfigurator-core carries, read as files: it is never imported."""

from __future__ import annotations

import json
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

_FOLDER = "aiconfigurator_core/model_configs"
_CONFIG = "_config.json"
_QUANTIZATION = "_hf_quant_config.json"


@cache
def _folder() -> Path:
    return Path(str(distribution("aiconfigurator-core").locate_file(_FOLDER)))


def published_models() -> list[str]:
    """Return the Hugging Face id of every model whose config.json is there."""
    names = (path.name for path in sorted(_folder().glob(f"*{_CONFIG}")) if not path.name.endswith(_QUANTIZATION))
    return [name.removesuffix(_CONFIG).replace("--", "/", 1) for name in names]


def published_config(model: str) -> dict[str, Any]:
    """Return a model's config.json, with its hf_quant_config.json where vLLM reads that: beside a file without one."""
    stem = model.replace("/", "--", 1)
    config: dict[str, Any] = json.loads((_folder() / f"{stem}{_CONFIG}").read_text(encoding="utf-8"))
    beside = _folder() / f"{stem}{_QUANTIZATION}"
    stated = config.get("quantization_config") or config.get("text_config", {}).get("quantization_config")
    if not stated and beside.is_file():
        config["quantization_config"] = {
            "quant_method": "modelopt",
            **json.loads(beside.read_text(encoding="utf-8")),
        }
    return config
