"""TensorQuantOverrides: what may be said of a tensor, checked and looked up."""

from __future__ import annotations

import json
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Set, Tuple

from .quant_utils import QuantType

Overrides = Dict[str, List[Dict[str, Any]]]

_KEYS = ("quant_type", "axis", "scale", "zero_point", "symmetric", "reduce_range", "rmin", "rmax", "convert")
# What goes without a scale only.
_WITHOUT_SCALE = ("symmetric", "reduce_range", "rmax", "rmin")


@dataclass
class QuantTypeInfo:
    """A tensor's type; None leaves what is said elsewhere."""

    quant_type: Any
    symmetric: Optional[bool] = None
    reduce_range: Optional[bool] = None
    axis: Optional[int] = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, QuantTypeInfo):
            return NotImplemented

        def agree(a: Optional[bool], b: Optional[bool]) -> bool:
            return a is None or b is None or a == b

        return (self.quant_type == other.quant_type and self.axis == other.axis
                and agree(self.symmetric, other.symmetric) and agree(self.reduce_range, other.reduce_range))

    @staticmethod
    def load_from_dict(raw_dict: Mapping[str, Any], default_qtype: Any = None, default_symmetric: Optional[bool] = None,
                       default_reduce_range: Optional[bool] = None) -> "QuantTypeInfo":
        return QuantTypeInfo(raw_dict.get("quant_type", default_qtype), raw_dict.get("symmetric", default_symmetric),
                             raw_dict.get("reduce_range", default_reduce_range), raw_dict.get("axis"))

    def save_to_dict(self, raw_dict: Dict[str, Any]) -> None:
        raw_dict["quant_type"] = self.quant_type
        for key in ("symmetric", "reduce_range", "axis"):
            if getattr(self, key) is not None:
                raw_dict[key] = getattr(self, key)


class _Invalid(Exception):
    """Why overrides can't be used."""


def _check_entry(tensor: str, entry: Any, where: str = "") -> None:
    """What holds for one dictionary on its own."""
    if not isinstance(entry, dict):
        raise _Invalid(f"Tensor quantization overrides{where} for '{tensor}' are not in a dict")
    for key in entry:
        if key not in _KEYS and key != "recv_nodes":
            raise _Invalid(f"Tensor '{tensor}': there is no override '{key}'; there are {', '.join(_KEYS)}")
    if ("scale" in entry) != ("zero_point" in entry):
        raise _Invalid("Must provide both 'scale' and 'zero_point' if one of the overrides is provided "
                       f"(tensor '{tensor}')")
    excess = [key for key in _WITHOUT_SCALE if key in entry]
    if "scale" in entry and excess:
        raise _Invalid(f"Tensor override option(s) [{', '.join(excess)}] are invalid with 'scale' and 'zero_point' "
                       f"(tensor '{tensor}')")
    if ("rmin" in entry) != ("rmax" in entry):
        raise _Invalid(f"Must provide both 'rmin' and 'rmax' if one is provided (tensor '{tensor}')")


def _check_activation(tensor: str, entry: Dict[str, Any], default_type: Any) -> None:
    for one in (entry, entry.get("convert", {})):
        if "reduce_range" in one:
            raise _Invalid(f"Option 'reduce_range' is only supported for initializers, not for activation {tensor}")
    if "convert" not in entry:
        return
    convert = entry["convert"]
    _check_entry(tensor, convert, " in 'convert'")
    if "quant_type" not in convert:
        raise _Invalid(f"'convert' options (tensor '{tensor}') must specify a 'quant_type'")
    if convert["quant_type"] == entry.get("quant_type", default_type):
        raise _Invalid(f"'convert' quant_type must differ from original quant_type (tensor '{tensor}')")


def _check_channels(tensor: str, entries: Sequence[Dict[str, Any]], shape: Sequence[int]) -> None:
    first = entries[0]
    if "axis" not in first:
        raise _Invalid(f"Per-channel overrides for tensor {tensor} is missing an 'axis' value in the first channel "
                       "dictionary.")
    axis = first["axis"] + len(shape) if first["axis"] < 0 else first["axis"]
    if not 0 <= axis < len(shape):
        raise _Invalid(f"Axis override value is out-of-bounds for tensor {tensor} (rank {len(shape)})")
    if len(entries) not in (1, shape[axis]):
        raise _Invalid(f"Incorrect number of channel overrides for tensor {tensor} (axis {first['axis']}), "
                       f"expected {shape[axis]}, but found {len(entries)}.")
    for index, entry in enumerate(entries):
        for key in ("quant_type", "symmetric", "reduce_range"):
            if key in entry and entry[key] != first.get(key):
                raise _Invalid(f"Tensor '{tensor}': '{key}' of channel {index} differs from that of the first")
        if entry.get("axis", first["axis"]) not in (first["axis"], axis):
            raise _Invalid(f"Tensor '{tensor}': 'axis' of channel {index} differs from that of the first")
        for key in ("scale", "rmin"):
            if (key in first) != (key in entry):
                raise _Invalid(f"Per-channel overrides that specify '{key}' must do so for all channels, but tensor "
                               f"'{tensor}' differs at index {index}.")


class TensorQuantOverridesHelper(MutableMapping):  # type: ignore[type-arg]
    """The dictionary of extra_options, with what is asked of it."""

    def __init__(self, raw_overrides: Overrides) -> None:
        self.overrides = raw_overrides

    def _first(self, tensor_name: str) -> Dict[str, Any]:
        entries = self.overrides.get(tensor_name)
        return entries[0] if entries else {}

    def has_per_tensor_overrides(self, tensor_name: str) -> bool:
        return bool(self.overrides.get(tensor_name)) and "axis" not in self._first(tensor_name)

    def has_per_channel_overrides(self, tensor_name: str) -> bool:
        return "axis" in self._first(tensor_name)

    def overrides_scale_zp(self, tensor_name: str) -> bool:
        return {"scale", "zero_point"} <= set(self._first(tensor_name))

    def get_per_tensor_overrides(self, tensor_name: str, default_val: Optional[Dict[str, Any]] = None) -> Any:
        if self.has_per_channel_overrides(tensor_name):
            raise ValueError(f"Expected tensor '{tensor_name}' to use per-tensor quantization overrides, but found "
                             "per-channel overrides.")
        return self._first(tensor_name) if self.overrides.get(tensor_name) else default_val

    def get_per_channel_overrides(self, tensor_name: str, default_val: Optional[List[Dict[str, Any]]] = None) -> Any:
        entries = self.overrides.get(tensor_name, default_val)
        if entries and "axis" not in entries[0]:
            raise ValueError(f"Expected tensor '{tensor_name}' to have per-channel quantization overrides (axis value "
                             "is missing).")
        return entries or None

    def get_quant_types(self) -> Set[Any]:
        """All types that are named."""
        entries = [entry for entries in self.overrides.values() for entry in entries]
        entries += [entry["convert"] for entry in entries if "convert" in entry]
        return {entry["quant_type"] for entry in entries if "quant_type" in entry}

    def is_valid(self, initializers: Any, activation_names: Set[str],
                 default_activation_qtype: Any) -> Tuple[bool, Optional[str]]:
        """(True, None), or False and the reason."""
        shapes = {name: list(getattr(tensor, "dims", tensor)) for name, tensor in dict(initializers).items()}
        try:
            for tensor, entries in self.overrides.items():
                self._check(tensor, entries, shapes, activation_names, default_activation_qtype)
        except _Invalid as reason:
            return False, str(reason)
        return True, None

    @staticmethod
    def _check(tensor: str, entries: Any, shapes: Dict[str, List[int]], activations: Set[str], default: Any) -> None:
        if tensor not in shapes and tensor not in activations:
            raise _Invalid(f"Tensor '{tensor}' in TensorQuantOverrides is not present in the model")
        if not isinstance(entries, list):
            raise _Invalid(f"Tensor quantization overrides for '{tensor}' are not in a list")
        for index, entry in enumerate(entries):
            _check_entry(tensor, entry, f" at index {index}")
        if tensor in shapes:
            if any("convert" in entry for entry in entries):
                raise _Invalid(f"Cannot use 'convert' override for initializers, such as {tensor}.")
            if len(entries) > 1 or entries and "axis" in entries[0]:
                _check_channels(tensor, entries, shapes[tensor])
        elif entries:
            if len(entries) > 1 or "axis" in entries[0]:
                raise _Invalid(f"Tensor '{tensor}' has per-channel overrides, but is not an initializer")
            _check_activation(tensor, entries[0], default)

    def update_tensor_overrides(self, tensor_name: str, new_vals: Dict[str, Any],
                                channels: Optional[Sequence[int]] = None, overwrite: bool = True) -> bool:
        """Adds to a tensor's channels; False if that would replace what must stay."""
        if not new_vals:
            return False
        entries = self.overrides.get(tensor_name) or [{}]
        chosen = [entry for index, entry in enumerate(entries) if channels is None or index in channels]
        if not overwrite and any(set(new_vals) & set(entry) for entry in chosen):
            return False
        for entry in chosen:
            entry.update(new_vals)
        self.overrides[tensor_name] = entries
        return True

    def get_node_output_qtype_info(self, output_name: str, default_qtype: Any,
                                   default_symmetric: Optional[bool] = None) -> QuantTypeInfo:
        entry = self._first(output_name)
        return QuantTypeInfo(entry.get("quant_type", default_qtype), entry.get("symmetric", default_symmetric))

    def get_node_input_qtype_info(self, input_name: str, node_name: str, default_qtype: Any,
                                  default_symmetric: Optional[bool] = None,
                                  default_reduce_range: Optional[bool] = None) -> QuantTypeInfo:
        """The type as a node reads it, which may be a converted one."""
        entry = self._first(input_name)
        if "convert" not in entry:
            return QuantTypeInfo.load_from_dict(entry, default_qtype, default_symmetric, default_reduce_range)
        convert = entry["convert"]
        reads = "recv_nodes" not in convert or node_name in convert["recv_nodes"]
        kind = convert["quant_type"] if reads else entry.get("quant_type", default_qtype)
        return QuantTypeInfo(kind, convert.get("symmetric", default_symmetric))

    def pprint_str(self, indent: Optional[int] = None) -> str:
        return json.dumps(self.overrides, default=str, indent=indent)

    def empty(self) -> bool:
        return not self.overrides

    def get_dict(self) -> Overrides:
        return self.overrides

    def __setitem__(self, key: str, value: List[Dict[str, Any]]) -> None:
        self.overrides[key] = value

    def __getitem__(self, key: str) -> List[Dict[str, Any]]:
        return self.overrides[key]

    def __delitem__(self, key: str) -> None:
        del self.overrides[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.overrides)

    def __len__(self) -> int:
        return len(self.overrides)

    def __str__(self) -> str:
        return str(self.overrides)

    def __repr__(self) -> str:
        return f"TensorQuantOverridesHelper({self.overrides})"


__all__ = ["QuantType", "QuantTypeInfo", "TensorQuantOverridesHelper"]
