"""Types, formats and the arithmetic of scales, by ORT's names."""

from __future__ import annotations

import logging
import os
import tempfile
from enum import Enum
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from ....errors import logger as _logger

__producer__ = "onnx.quantize"
__version__ = "0.1.0"
onnx_domain = "ai.onnx"
ms_domain = "com.microsoft"
QUANT_OP_NAME = "QuantizeLinear"
QUANT_INPUT_SUFFIX = "_QuantizeLinear_Input"
DEQUANT_OP_NAME = "DequantizeLinear"
DEQUANT_OUTPUT_SUFFIX = "_DequantizeLinear_Output"
TENSOR_NAME_QUANT_SUFFIX = "_quantized"
MODEL_SIZE_THRESHOLD = 2147483648
type_to_name = {
    1: "FLOAT", 2: "UINT8", 3: "INT8", 4: "UINT16", 5: "INT16", 6: "INT32", 7: "INT64", 8: "STRING", 9: "BOOL",
    10: "FLOAT16", 11: "DOUBLE", 12: "UINT32", 13: "UINT64", 16: "BFLOAT16", 17: "FLOAT8E4M3FN", 21: "UINT4",
    22: "INT4",
}
FLOAT8_TYPES = {17, 18, 19, 20}


class _Named(Enum):
    def __str__(self) -> str:
        return self.name

    @classmethod
    def _from(cls, text: str) -> Any:
        try:
            return cls[text]
        except KeyError:
            raise ValueError(f"{cls.__name__} expects one of {', '.join(m.name for m in cls)}, but got '{text}'") from None


class QuantizationMode(_Named):
    IntegerOps = 0
    QLinearOps = 1

    @staticmethod
    def from_string(mode: str) -> "QuantizationMode":
        return QuantizationMode._from(mode)


class QuantizedValueType(_Named):
    Input = 0
    Initializer = 1

    @staticmethod
    def from_string(kind: str) -> "QuantizedValueType":
        return QuantizedValueType._from(kind)


class QuantType(_Named):
    QInt8 = 0
    QUInt8 = 1
    QFLOAT8E4M3FN = 2
    QInt16 = 3
    QUInt16 = 4
    QInt4 = 5
    QUInt4 = 6

    @staticmethod
    def from_string(kind: str) -> "QuantType":
        return QuantType._from(kind)

    @property
    def tensor_type(self) -> int:
        """ONNX's number of the type."""
        return _TENSOR_TYPES[self]

    @classmethod
    def from_tensor_type(cls, number: int) -> "QuantType":
        for kind, other in _TENSOR_TYPES.items():
            if other == number:
                return kind
        raise ValueError(f"no quantized type has ONNX's number {number}")


_TENSOR_TYPES = {
    QuantType.QInt8: 3, QuantType.QUInt8: 2, QuantType.QFLOAT8E4M3FN: 17, QuantType.QInt16: 5, QuantType.QUInt16: 4,
    QuantType.QInt4: 22, QuantType.QUInt4: 21,
}
#: The names that the compiler has for them.
SHORT_NAMES = {
    QuantType.QInt8: "s8", QuantType.QUInt8: "u8", QuantType.QInt16: "s16", QuantType.QUInt16: "u16",
    QuantType.QInt4: "s4", QuantType.QUInt4: "u4", QuantType.QFLOAT8E4M3FN: "f8e4m3fn",
}


class QuantFormat(_Named):
    QOperator = 0
    QDQ = 1

    @staticmethod
    def from_string(text: str) -> "QuantFormat":
        return QuantFormat._from(text)


ONNX_TYPE_TO_NP_TYPE = {
    1: np.dtype("float32"), 2: np.dtype("uint8"), 3: np.dtype("int8"), 4: np.dtype("uint16"), 5: np.dtype("int16"),
    6: np.dtype("int32"), 7: np.dtype("int64"), 10: np.dtype("float16"), 11: np.dtype("float64"),
    17: None, 21: np.dtype("uint8"), 22: np.dtype("int8"),
}
ONNX_INT_TYPE_RANGE = {
    2: (np.array(0, np.uint8), np.array(255, np.uint8)), 3: (np.array(-128, np.int8), np.array(127, np.int8)),
    4: (np.array(0, np.uint16), np.array(65535, np.uint16)), 5: (np.array(-32768, np.int16), np.array(32767, np.int16)),
    21: (np.array(0, np.uint8), np.array(15, np.uint8)), 22: (np.array(-8, np.int8), np.array(7, np.int8)),
}
ONNX_INT_TYPE_SYMMETRIC_RANGE = {
    3: (np.array(-127, np.int8), np.array(127, np.int8)), 5: (np.array(-32767, np.int16), np.array(32767, np.int16)),
    22: (np.array(-8, np.int8), np.array(7, np.int8)),
}
ONNX_INT_TYPE_REDUCED_RANGE = {
    2: (np.array(0, np.uint8), np.array(127, np.uint8)), 3: (np.array(-64, np.int8), np.array(64, np.int8)),
    4: (np.array(0, np.uint16), np.array(32767, np.uint16)), 5: (np.array(-16384, np.int16), np.array(16384, np.int16)),
    21: (np.array(0, np.uint8), np.array(7, np.uint8)), 22: (np.array(-4, np.int8), np.array(3, np.int8)),
}


def _number(kind: Any) -> int:
    return kind.tensor_type if isinstance(kind, QuantType) else int(kind)


def get_qmin_qmax_for_qType(qType: Any, reduce_range: bool = False, symmetric: bool = False) -> Tuple[Any, Any]:  # noqa: N802,N803
    """The integers that a type may hold: fewer if reduced, else if symmetric."""
    number = _number(qType)
    if number in FLOAT8_TYPES:
        raise NotImplementedError(f"{type_to_name.get(number, number)} has no integer range")
    if number not in ONNX_INT_TYPE_RANGE:
        raise ValueError(f"Unexpected data type {qType} requested. Only INT4, UINT4, INT8, UINT8, INT16, and UINT16 are supported.")
    if reduce_range:
        return ONNX_INT_TYPE_REDUCED_RANGE[number]
    if symmetric and number in ONNX_INT_TYPE_SYMMETRIC_RANGE:
        return ONNX_INT_TYPE_SYMMETRIC_RANGE[number]
    return ONNX_INT_TYPE_RANGE[number]


def get_qrange_for_qType(qType: Any, reduce_range: bool = False, symmetric: bool = False) -> Any:  # noqa: N802,N803
    low, high = get_qmin_qmax_for_qType(qType, reduce_range, symmetric)
    return int(high) - int(low)


def compute_scale_zp(
    rmin: Any, rmax: Any, qmin: Any, qmax: Any, symmetric: bool = False, min_real_range: Optional[float] = None
) -> List[Any]:
    """[zero point, scale] of a range; the scale has the range's type."""
    if qmin > 0 or qmax < 0:
        raise ValueError(f"qmin and qmax must meet requirement: qmin <= 0 <= qmax while qmin:{qmin}, qmmax:{qmax}")
    kind = np.asarray(rmin).dtype if hasattr(rmin, "dtype") else np.dtype("float64")
    low, high = np.minimum(rmin, np.array(0, kind)), np.maximum(rmax, np.array(0, kind))
    if min_real_range is not None:
        high = np.maximum(high, low + np.asarray(min_real_range, kind))
    if symmetric:
        most = np.maximum(np.abs(low), np.abs(high))
        low, high = -most, most
    whole = np.array(qmax, np.float64) - np.array(qmin, np.float64)
    width = np.array(high, np.float64) - np.array(low, np.float64)
    scale = np.array(width / whole)
    q_kind = qmin.dtype if hasattr(qmin, "dtype") else np.dtype("int64")
    tiny = np.finfo(kind if np.dtype(kind).kind == "f" else np.float32).tiny
    if scale < tiny:
        return [np.array(0, q_kind), np.array(1.0, kind)]
    if symmetric:
        zero = np.array(np.round((float(qmin) + float(qmax)) / 2.0), q_kind)
    else:
        zero = np.array(np.round(float(qmin) - float(low) / float(scale)), q_kind)
    return [zero, scale.astype(kind)]


def snap_zero_point_to_uint8(rmin: Any, rmax: Any, symmetric: bool = False) -> List[Any]:
    """[zero point, scale] where the zero point is the least or the middle one."""
    low, high = min(float(rmin), 0.0), max(float(rmax), 0.0)
    zero = 0 if low >= 0 and not symmetric else 128
    span = high / 255.0 if zero == 0 else max(high / 127.0, -low / 128.0)
    kind = np.asarray(rmin).dtype if hasattr(rmin, "dtype") else np.dtype("float32")
    if span < np.finfo(np.float32).tiny:
        return [np.array(zero, np.uint8), np.array(1.0, kind)]
    return [np.array(zero, np.uint8), np.array(span, kind)]


def compute_scale_zp_float8(element_type: int, std: Any) -> List[Any]:
    raise NotImplementedError("float8 scales by distribution are not computed here")


def compute_data_quant_params(
    data: "np.ndarray[Any, Any]", quant_type: Any, symmetric: bool, reduce_range: bool = False,
    min_real_range: Optional[float] = None, rmin_override: Any = None, rmax_override: Any = None,
) -> Tuple[Any, Any]:
    """(zero point, scale) of an array."""
    if not isinstance(data, np.ndarray):
        raise TypeError(f"Weight must be given as an array not {type(data)}.")
    low = rmin_override if rmin_override is not None else (data.min() if data.size else np.array(0, data.dtype))
    high = rmax_override if rmax_override is not None else (data.max() if data.size else np.array(0, data.dtype))
    low, high = np.array(low, data.dtype), np.array(high, data.dtype)
    qmin, qmax = get_qmin_qmax_for_qType(_number(quant_type), reduce_range, symmetric)
    zero, scale = compute_scale_zp(low, high, qmin, qmax, symmetric, min_real_range)
    return zero, scale.astype(data.dtype)


def compute_scale_zp_blocked(
    weight: "np.ndarray[Any, Any]", quant_type: Any, axis: int, block_size: int, symmetric: bool
) -> Tuple[Any, Any]:
    """(zero points, scales) of a matrix in blocks along an axis, which then counts blocks."""
    if weight.ndim != 2:
        raise NotImplementedError(f"blocks are those of matrices, but the weight has rank {weight.ndim}")
    rows = np.moveaxis(weight, axis, 0)
    blocks = np.concatenate([rows, np.zeros((-len(rows) % block_size, rows.shape[1]), rows.dtype)])
    blocks = blocks.reshape(-1, block_size, rows.shape[1])
    qmin, qmax = get_qmin_qmax_for_qType(_number(quant_type), symmetric=symmetric)
    pairs = [[compute_scale_zp(column.min(), column.max(), qmin, qmax, symmetric) for column in block.T] for block in blocks]
    zeros, scales = (np.array([[pair[i] for pair in row] for row in pairs]) for i in (0, 1))
    return np.moveaxis(zeros.astype(qmin.dtype), 0, axis), np.moveaxis(scales.astype(weight.dtype), 0, axis)


def quantize_nparray(
    qType: Any, arr: Any, scale: Any, zero_point: Any, low: Any = None, high: Any = None  # noqa: N803
) -> "np.ndarray[Any, Any]":
    """x / scale rounded half to even, plus the zero point, within the type."""
    number = _number(qType)
    if number not in ONNX_TYPE_TO_NP_TYPE or ONNX_TYPE_TO_NP_TYPE[number] is None:
        raise ValueError(f"Unexpected data type {qType} requested. Only INT8, UINT8, INT16, and UINT16 are supported.")
    kind = ONNX_TYPE_TO_NP_TYPE[number]
    qmin, qmax = get_qmin_qmax_for_qType(number)
    least = int(qmin) if low is None else max(int(qmin), int(low))
    most = int(qmax) if high is None else min(int(qmax), int(high))
    wide = (np.asarray(arr).astype(np.float32) / scale).round() + np.asarray(zero_point).astype(np.float64)
    return np.clip(wide, least, most).astype(kind)


def quantize_data(data: Any, qType: Any, symmetric: bool, reduce_range: bool = False,  # noqa: N803
                  min_real_range: Optional[float] = None, rmin_override: Any = None,
                  rmax_override: Any = None) -> Tuple[Any, ...]:
    """(zero point, scale, integers) of data. Up to 1.20 the range came before
    them and the zero point was a number; callers take the last three."""
    array = np.asarray(data)
    if array.dtype.kind != "f":
        array = array.astype(np.float32)
    zero, scale = compute_data_quant_params(
        array, qType, symmetric, reduce_range, min_real_range, rmin_override, rmax_override
    )
    return zero, scale, quantize_nparray(qType, array, scale, zero)


def quantize_onnx_initializer(
    weight: Any, quant_type: Any, zero_point: Any, scale: Any, axis: Optional[int] = None,
    quant_weight_name: Optional[str] = None, block_size: int = 0,
) -> Any:
    """The integers of an initializer, as an initializer; in blocks along an axis if they have a size."""
    import onnx

    data = onnx.numpy_helper.to_array(weight)
    name = quant_weight_name or f"{weight.name}{TENSOR_NAME_QUANT_SUFFIX}"
    if axis is not None and block_size:
        each = [np.repeat(values, block_size, axis=axis).take(range(data.shape[axis]), axis) for values in (scale, zero_point)]
        quantized = quantize_nparray(quant_type, data, *each)
    elif axis is None:
        quantized = quantize_nparray(quant_type, data.ravel(), scale, zero_point)
    else:
        parts = [
            np.expand_dims(quantize_nparray(quant_type, np.take(data, i, axis).ravel(), scale[i], zero_point[i])
                           .reshape(np.take(data, i, axis).shape), axis)
            for i in range(data.shape[axis])
        ]
        quantized = np.concatenate(parts, axis)
    number = _number(quant_type)
    if number in (21, 22):
        tensor = onnx.TensorProto()
        tensor.data_type, tensor.name = number, name
        tensor.dims.extend(data.shape)
        tensor.raw_data = pack_bytes_to_4bit(quantized.astype(np.uint8).tobytes())
        return tensor
    return onnx.numpy_helper.from_array(quantized.astype(ONNX_TYPE_TO_NP_TYPE[number]).reshape(data.shape), name)


def pack_bytes_to_4bit(src: Any, pack_type: Any = None) -> bytearray:
    """Two numbers in a byte, the first in the low bits."""
    data = bytes(src)
    result = bytearray((len(data) + 1) // 2)
    for i, value in enumerate(data):
        result[i // 2] |= (value & 0xF) << (4 * (i % 2))
    return result


def normalize_axis(axis: int, rank: int) -> Tuple[bool, int]:
    """Whether an axis is within the rank, and the axis counted from the front."""
    real = axis + rank if axis < 0 else axis
    return 0 <= real < rank, real


def find_by_name(item_name: str, item_list: Any) -> Any:
    return next((item for item in item_list if item.name == item_name), None)


def get_elem_index(elem_name: str, elem_list: List[str]) -> int:
    return elem_list.index(elem_name) if elem_name in elem_list else -1


def get_mul_node(inputs: Any, output: str, name: str) -> Any:
    import onnx

    return onnx.helper.make_node("Mul", inputs, [output], name)


def attribute_to_kwarg(attribute: Any) -> Dict[str, Any]:
    import onnx

    return {attribute.name: onnx.helper.get_attribute_value(attribute)}


def generate_identified_filename(filename: Path, identifier: str) -> Path:
    return filename.parent.joinpath(filename.stem + identifier).with_suffix(filename.suffix)


def has_ms_domain(model: Any) -> bool:
    return any(opset.domain == ms_domain for opset in model.opset_import)


def model_has_external_data(model_path: Any) -> bool:
    import onnx

    model = onnx.load(str(model_path), load_external_data=False)
    return any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in model.graph.initializer)


def model_has_infer_metadata(model: Any) -> bool:
    return any(p.key == "onnx.infer" and p.value == "onnxruntime.quant" for p in model.metadata_props)


def model_has_pre_process_metadata(model: Any) -> bool:
    return any(p.key == "onnx.quant.pre_process" and p.value == "onnxruntime.quant" for p in model.metadata_props)


def add_infer_metadata(model: Any) -> None:
    _add_metadata(model, "onnx.infer")


def add_pre_process_metadata(model: Any) -> None:
    _add_metadata(model, "onnx.quant.pre_process")


def _add_metadata(model: Any, key: str) -> None:
    entry = find_by_key(key, model.metadata_props)
    if entry is None:
        entry = model.metadata_props.add()
        entry.key = key
    entry.value = "onnxruntime.quant"


def find_by_key(key: str, entries: Any) -> Any:
    return next((entry for entry in entries if entry.key == key), None)


def load_model_with_shape_infer(model_path: Any) -> Any:
    """A model from a file, with its shapes inferred."""
    import onnx

    from ....errors import ModelError

    path = os.fspath(model_path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: no such model")
    model = onnx.load(path)
    try:
        result = with_shapes(model, path)
    except ModelError:
        # A model that can't be run can still be looked at.
        result = onnx.shape_inference.infer_shapes(model)
    add_infer_metadata(result)
    return result


def with_shapes(model: Any, path: Optional[str] = None, **options: Any) -> Any:
    """A copy of a model (from a file) that tells the types and shapes of all tensors; its nodes are as they were."""
    import onnx

    from .... import model as _model

    inferred = _model.preprocess(path or model, optimize=False, keep_fused=True, **options).to_onnx()
    result = onnx.ModelProto()
    result.CopyFrom(model)
    _add_shapes(result.graph, inferred.graph)
    return result


def _add_shapes(graph: Any, inferred: Any) -> None:
    known = {info.name: info for info in [*inferred.value_info, *inferred.output]}
    outputs = {info.name: info for info in graph.output}
    others = [info for info in graph.value_info if info.name not in known]
    graph.ClearField("value_info")
    graph.value_info.extend(others)
    parts = {name: other for other in inferred.node for name in other.output}
    for node in graph.node:
        for name in node.output:
            if name in known and name in outputs:
                outputs[name].CopyFrom(known[name])
            elif name in known:
                graph.value_info.append(known[name])
        other = parts.get(node.output[0]) if node.output else None
        if other is None or other.op_type != node.op_type:
            continue
        inner = {attribute.name: attribute.g for attribute in other.attribute}
        for attribute in node.attribute:
            if attribute.HasField("g") and attribute.name in inner:
                _add_shapes(attribute.g, inner[attribute.name])


def save_and_reload_model_with_shape_infer(model: Any) -> Any:
    result = with_shapes(model)
    add_infer_metadata(result)
    return result


def save_and_reload_model(model: Any) -> Any:
    return save_and_reload_model_with_shape_infer(model)


def load_model(model_path: Any, need_optimize: bool = False) -> Any:
    """Up to 1.15: a model from a file, prepared if asked for."""
    from .... import model as _model

    result = _model.preprocess(str(model_path), optimize=need_optimize).to_onnx()
    add_infer_metadata(result)
    return result


def optimize_model(model_path: Any, opt_model_path: Any) -> None:
    from .... import model as _model

    _model.preprocess(str(model_path), out=opt_model_path)


def update_opset_version(model: Any, weight_type: Any) -> Any:
    """Raises the opset to what a weight type needs."""
    import onnx

    own = [opset for opset in model.opset_import if not opset.domain or opset.domain == onnx_domain]
    version = own[0].version if own else 1
    kind = weight_type if isinstance(weight_type, QuantType) else QuantType.from_tensor_type(weight_type)
    wanted = version
    if kind == QuantType.QFLOAT8E4M3FN and version < 19:
        wanted = 19
    elif version < 10:
        wanted = 11
    if wanted != version:
        logging.warning("The original model opset version is %d; it is raised to %d", version, wanted)
        model = onnx.version_converter.convert_version(model, wanted)
    return model


def get_opset_version(model: Any) -> int:
    own = [opset for opset in model.opset_import if not opset.domain or opset.domain == onnx_domain]
    if len(own) != 1:
        raise ValueError("Failed to find proper ai.onnx domain")
    return int(own[0].version)


def smooth_distribution(p: Any, eps: float = 0.0001) -> Any:
    """Zeros get a little, which the others give; None if there is too little."""
    zeros = (p == 0).astype(np.float32)
    others = (p != 0).astype(np.float32)
    count, rest = zeros.sum(), p.size - zeros.sum()
    if not rest:
        return None
    taken = eps * float(count) / float(rest)
    if taken >= 1.0:
        return None
    return p.astype(np.float32) + eps * zeros - taken * others


def apply_plot(hist: Any, hist_edges: Any) -> None:
    import matplotlib.pyplot as plt

    plt.bar(hist_edges[:-1], hist, width=np.diff(hist_edges))
    plt.show()


def write_calibration_table(calibration_cache: Any, dir: Any = ".") -> None:  # noqa: A002
    """Writes calibration.json, calibration.flatbuffers and calibration.cache."""
    from ....table import Table

    ranges = {}
    for name, entry in dict(getattr(calibration_cache, "data", calibration_cache)).items():
        pair = entry.range_value if hasattr(entry, "range_value") else entry
        ranges[name] = (float(np.asarray(pair[0])), float(np.asarray(pair[1])))
    table = Table(ranges)
    os.makedirs(dir, exist_ok=True)
    _logger.info("calibration cache: %s", ranges)
    for extension in ("json", "flatbuffers", "cache"):
        table.save(os.path.join(dir, f"calibration.{extension}"))


class TensorNameMixin:
    """Kept for programs that look for it."""


class QuantizedInitializer:
    """An initializer, quantized."""

    def __init__(self, name: str, initializer: Any, rmins: Any, rmaxs: Any, zero_points: Any, scales: Any,
                 data: Any = None, quantized_data: Any = None, axis: Any = None) -> None:
        self.name, self.initializer, self.rmins, self.rmaxs = name, initializer, rmins, rmaxs
        self.zero_points, self.scales = zero_points, scales
        self.data, self.quantized_data, self.axis = data or [], quantized_data or [], axis


class QuantizedValue:
    """A tensor with the names of what its quantized form consists of."""

    def __init__(self, name: str, new_quantized_name: str, scale_name: str, zero_point_name: str,
                 quantized_value_type: Any, axis: Any = None, node_type: Any = None, node_qtype: Any = None,
                 scale_type: Any = None) -> None:
        self.original_name, self.q_name = name, new_quantized_name
        self.scale_name, self.zp_name = scale_name, zero_point_name
        self.value_type, self.axis = quantized_value_type, axis
        self.node_type, self.node_qtype, self.scale_type = node_type, node_qtype, scale_type


def clone_model_with_shape_infer(model: Any) -> Any:
    import onnx

    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return save_and_reload_model_with_shape_infer(copy)




def model_path_of(model: Any, folder: Optional[str] = None) -> str:
    """A model as a file: its own, or a temporary one."""
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model)
    handle, name = tempfile.mkstemp(suffix=".onnx", dir=folder)
    with os.fdopen(handle, "wb") as file:
        file.write(model.SerializeToString())
    return name
