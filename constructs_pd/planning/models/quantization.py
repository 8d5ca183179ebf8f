"""Which number format each of a model's modules has, from the quantization_config of its config.json."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from constructs_pd.planning.models.config_reader import ConfigReader
from constructs_pd.planning.models.errors import BY_HAND, ModelConfigError, missing_field, shown
from constructs_pd.planning.models.module_names import ModuleNames, module_name
from constructs_pd.planning.models.weight_format import (
    FP8,
    FP8_CHANNEL,
    MXFP4,
    MXFP8,
    NVFP4,
    WeightFormat,
    fp8_blocks,
    integers,
)


@dataclass(frozen=True, slots=True)
class Quantization:
    """The number formats of a model's modules.

    Attributes:
        name: What the checkpoint calls it, or none for plain numbers.
        default: The format of linear modules that nothing else speaks of, or none for the model's own type.
        experts_only: Whether only experts are converted.
        excluded: Modules that are not converted.
        by_module: The formats of modules that have one of their own.
        by_target: The formats of modules that a pattern names.
        kv_cache_dtype: The KV cache's type that the checkpoint asks for, or none.
    """

    name: str | None = None
    default: WeightFormat | None = None
    experts_only: bool = False
    excluded: ModuleNames | None = None
    by_module: Mapping[str, WeightFormat] | None = None
    by_target: tuple[tuple[ModuleNames, WeightFormat], ...] = ()
    kv_cache_dtype: str | None = None

    def format_of(self, path: str) -> WeightFormat | None:
        """Return the format of a linear module, or none for the model's own type."""
        if self.by_module is not None:
            parent = path.rpartition(".")[0]
            return self.by_module.get(path) or self.by_module.get(parent)
        if self.excluded is not None and path in self.excluded:
            return None
        if self.experts_only and not path.endswith(".experts"):
            return None
        return next((chosen for names, chosen in self.by_target if path in names), self.default)


NONE: Final = Quantization()


def quantization(config: ConfigReader) -> Quantization:
    """Return the quantization that a config.json states, in its text part or beside it.

    Source: vLLM 0.26.0 config/model.py, _parse_quant_hf_config; model_executor/layers/quantization/.
    """
    stated = config.mapping("quantization_config")
    if stated is None:
        return NONE
    method = stated.text("quant_method")
    if method is None and stated.has("quant_algo"):
        method = "modelopt"  # vLLM reads the same from hf_quant_config.json
    read = _METHODS.get(method or "")
    if read is None:
        raise ModelConfigError(
            stated.field("quant_method"), shown(method), f"known are {', '.join(_METHODS)}; otherwise {BY_HAND}"
        )
    return read(stated, method or "")


def _excluded(stated: ConfigReader) -> ModuleNames | None:
    for name in ("modules_to_not_convert", "ignored_layers", "ignore", "exclude_modules"):
        names = stated.texts(name)
        if names:
            return ModuleNames(names, stated.field(name))
    return None


def _fp8(stated: ConfigReader, method: str) -> Quantization:
    chosen = _block(stated, "weight_block_size") if stated.has("weight_block_size") else FP8
    return Quantization(method, chosen, excluded=_excluded(stated))


def _block(stated: ConfigReader, name: str) -> WeightFormat:
    block = stated.integers(name, most=10_000)
    if block is None or len(block) != 2 or 0 in block:
        raise ModelConfigError(stated.field(name), shown(stated.raw(name)), "write two sizes")
    return fp8_blocks(*block)


def _mxfp4(stated: ConfigReader, method: str) -> Quantization:
    # vLLM's Mxfp4Config leaves every linear layer plain and converts the experts.
    return Quantization(method, MXFP4, experts_only=True)


def _integers(stated: ConfigReader, method: str) -> Quantization:
    bits = stated.integer("bits", "w_bit", most=8)
    if bits not in (4, 8):
        raise stated.refused("bits", "only 4 and 8 are known")
    # GPTQ packs zero points also where it is symmetric; AWQ says whether it has any.
    zero_point = stated.flag("zero_point", True) if method.startswith("awq") else True
    return Quantization(method, integers(bits, _group(stated), zero_point=zero_point), excluded=_excluded(stated))


def _group(stated: ConfigReader) -> int | None:
    size = stated.integer("group_size", "q_group_size", default=-1, least=-1, most=100_000)
    return size if size > 0 else None


def _compressed_tensors(stated: ConfigReader, method: str) -> Quantization:
    groups = stated.mapping("config_groups")
    if groups is None or not groups.items():
        raise missing_field(stated.field("config_groups"))
    default: WeightFormat | None = None
    by_target: list[tuple[ModuleNames, WeightFormat]] = []
    for name, _ in groups.items():
        group = groups.mapping(name)
        weights = group.mapping("weights") if group is not None else None
        if group is None or weights is None:
            continue
        chosen = _compressed_format(weights)
        targets = group.texts("targets") or ("Linear",)
        if "Linear" in targets:
            default = chosen
        else:
            by_target.append((ModuleNames(targets, group.field("targets")), chosen))
    # compressed-tensors states a scheme as vLLM reads it only for fp8.
    scheme = stated.mapping("kv_cache_scheme")
    dtype = "fp8" if scheme is not None and scheme.raw("num_bits") == 8 else None
    return Quantization(method, default, excluded=_excluded(stated), by_target=tuple(by_target), kv_cache_dtype=dtype)


def _compressed_format(weights: ConfigReader) -> WeightFormat:
    bits = weights.integer("num_bits", most=16)
    strategy = weights.text("strategy", "tensor")
    group = weights.optional("group_size", most=100_000)
    match weights.text("type", "int"), bits, strategy:
        case "float", 8, "tensor":
            return FP8
        case "float", 8, "channel":
            return FP8_CHANNEL
        case "float", 8, "block":
            return _block(weights, "block_structure")
        case "float", 4, _:
            return NVFP4 if group == 16 else MXFP4
        case "int", (4 | 8), _:
            return integers(bits, group, zero_point=not weights.flag("symmetric", True))
    raise weights.refused("type", f"{bits} bits by {strategy} are not known")


_ALGORITHMS: Final = {
    "FP8": FP8,
    "FP8_PER_CHANNEL_PER_TOKEN": FP8_CHANNEL,
    "FP8_PB_WO": fp8_blocks(128, 128),
    "MXFP8": MXFP8,
    "NVFP4": NVFP4,
    "W4A16_NVFP4": NVFP4,
    "W4A8_NVFP4_FP8": NVFP4,
}


def _modelopt(stated: ConfigReader, method: str) -> Quantization:
    inner = stated.mapping("quantization") or stated
    algorithm = inner.text("quant_algo")
    excluded = _excluded(inner) or _excluded(stated)
    dtype = _modelopt_cache_dtype(inner) or _modelopt_cache_dtype(stated)
    if algorithm == "MIXED_PRECISION":
        layers = inner.mapping("quantized_layers")
        if layers is None:
            raise missing_field(inner.field("quantized_layers"))
        by_module = {module_name(name): _algorithm_of(layers, name) for name, _ in layers.items()}
        return Quantization(algorithm, by_module=by_module, kv_cache_dtype=dtype)
    return Quantization(algorithm, _algorithm(inner), excluded=excluded, kv_cache_dtype=dtype)


def _algorithm_of(layers: ConfigReader, name: str) -> WeightFormat:
    layer = layers.mapping(name)
    if layer is None:
        raise missing_field(layers.field(name))
    return _algorithm(layer)


def _algorithm(stated: ConfigReader) -> WeightFormat:
    name = stated.text("quant_algo")
    if name not in _ALGORITHMS:
        known = ", ".join(_ALGORITHMS)
        raise ModelConfigError(stated.field("quant_algo"), shown(name), f"known are {known}; otherwise {BY_HAND}")
    return _ALGORITHMS[name]


def _modelopt_cache_dtype(stated: ConfigReader) -> str | None:
    """Return the KV cache's type, as vLLM 0.26.0 utils/torch_utils.py, get_kv_cache_quant_algo_string, finds it."""
    scheme = stated.raw("kv_cache_scheme") or stated.raw("kv_cache_quant_algo")
    if isinstance(scheme, Mapping):
        is_fp8 = scheme.get("num_bits") == 8 and scheme.get("type") == "float" and scheme.get("dynamic") is False
        return "fp8" if is_fp8 else None
    return "fp8" if isinstance(scheme, str) and scheme.lower() in ("fp8", "fp8_e4m3") else None


_METHODS: Final[Mapping[str, Callable[[ConfigReader, str], Quantization]]] = {
    "fp8": _fp8,
    "mxfp4": _mxfp4,
    "gpt_oss_mxfp4": _mxfp4,
    "compressed-tensors": _compressed_tensors,
    "awq": _integers,
    "gptq": _integers,
    "modelopt": _modelopt,
    "modelopt_fp4": _modelopt,
    "modelopt_mixed": _modelopt,
}
