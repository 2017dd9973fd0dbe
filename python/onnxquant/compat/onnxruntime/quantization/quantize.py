"""quantize_static, quantize_dynamic and the rest: arguments onto the compiler's
options, with ORT's checks."""

from __future__ import annotations

import difflib
import itertools
import logging
import os
import re
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from .... import _options, model as _model, quantization as _quantization, table as _table
from ....errors import Error
from ..capi.onnxruntime_inference_collection import warn_of_providers
from .calibrate import CalibrationMethod, TensorsData, chunks, load_tensors_data, move_ranges, save_tensors_data
from .quant_utils import (  # noqa: F401
    FLOAT8_TYPES, MODEL_SIZE_THRESHOLD, SHORT_NAMES, QuantFormat, QuantizationMode, QuantType)
from .registry import IntegerOpsRegistry, QLinearOpsRegistry
from .tensor_quant_overrides import TensorQuantOverridesHelper

logger = logging.getLogger("onnxquant")


class QuantConfig:
    """What static and dynamic quantization have in common."""

    def __init__(
        self, activation_type: QuantType = QuantType.QUInt8, weight_type: QuantType = QuantType.QInt8,
        op_types_to_quantize: Optional[List[str]] = None, nodes_to_quantize: Optional[List[str]] = None,
        nodes_to_exclude: Optional[List[str]] = None, per_channel: bool = False, reduce_range: bool = False,
        use_external_data_format: bool = False,
    ) -> None:
        self.op_types_to_quantize = op_types_to_quantize or []
        self.per_channel, self.reduce_range = per_channel, reduce_range
        self.weight_type, self.activation_type = weight_type, activation_type
        self.nodes_to_quantize, self.nodes_to_exclude = nodes_to_quantize or [], nodes_to_exclude or []
        self.use_external_data_format = use_external_data_format


class StaticQuantConfig(QuantConfig):
    def __init__(
        self, calibration_data_reader: Any, calibrate_method: CalibrationMethod = CalibrationMethod.MinMax,
        quant_format: QuantFormat = QuantFormat.QDQ, activation_type: QuantType = QuantType.QInt8,
        weight_type: QuantType = QuantType.QInt8, op_types_to_quantize: Optional[List[str]] = None,
        nodes_to_quantize: Optional[List[str]] = None, nodes_to_exclude: Optional[List[str]] = None,
        per_channel: bool = False, reduce_range: bool = False, use_external_data_format: bool = False,
        calibration_providers: Optional[List[str]] = None, extra_options: Optional[Dict[str, Any]] = None,
    ) -> None:
        super().__init__(activation_type, weight_type, op_types_to_quantize, nodes_to_quantize, nodes_to_exclude,
                         per_channel, reduce_range, use_external_data_format)
        self.calibration_data_reader, self.calibrate_method = calibration_data_reader, calibrate_method
        self.quant_format, self.calibration_providers = quant_format, calibration_providers
        self.extra_options = extra_options or {}


class DynamicQuantConfig(QuantConfig):
    def __init__(
        self, weight_type: QuantType = QuantType.QInt8, op_types_to_quantize: Optional[List[str]] = None,
        nodes_to_quantize: Optional[List[str]] = None, nodes_to_exclude: Optional[List[str]] = None,
        per_channel: bool = False, reduce_range: bool = False, use_external_data_format: bool = False,
        extra_options: Optional[Dict[str, Any]] = None,
    ) -> None:
        super().__init__(op_types_to_quantize=op_types_to_quantize, per_channel=per_channel, weight_type=weight_type,
                         nodes_to_quantize=nodes_to_quantize, nodes_to_exclude=nodes_to_exclude,
                         reduce_range=reduce_range, use_external_data_format=use_external_data_format)
        self.extra_options = extra_options or {}


# Each of extra_options: the compiler's option, or None where nothing follows.
_EXTRA = {
    "ActivationSymmetric": "symmetric_activations",
    "WeightSymmetric": "symmetric_weights",
    "EnableSubgraph": "enable_subgraph",
    "ForceQuantizeNoInputCheck": "force_quantize_no_input_check",
    "MatMulConstBOnly": "matmul_const_b_only",
    "AddQDQPairToWeight": "add_qdq_pair_to_weight",
    "DedicatedQDQPair": "dedicated_qdq_pair",
    "QuantizeBias": "quantize_bias",
    "QDQKeepRemovableActivations": "keep_removable_activations",
    "MinimumRealRange": "minimum_real_range",
    "UseQDQContribOps": "contrib_qdq",
    "BlockSize": "block_size",
    "OpTypesToExcludeOutputQuantization": "op_types_to_exclude_output",
    # As it was spelled up to 1.13.
    "OpTypesToExcludeOutputQuantizatioin": "op_types_to_exclude_output",
    "QDQOpTypePerChannelSupportToAxis": "channel_axes",
    "QDQDisableWeightAdjustForInt32Bias": None,
    "ActivationRestrictedAsymmetric": "restricted_asymmetric",
    "TensorQuantOverrides": None,
    "extra.Sigmoid.nnapi": None,
    "DefaultTensorType": None,
    "CalibTensorRangeSymmetric": None,
    "CalibPercentile": None,
    "CalibMovingAverage": None,
    "CalibMovingAverageConstant": None,
    "CalibMaxIntermediateOutputs": None,
    "CalibStridedMinMax": None,
    "SmoothQuant": "smooth_quant",
    "SmoothQuantAlpha": "smooth_quant_alpha",
    "SmoothQuantFolding": "smooth_quant_folding",
}
# Types that quantizers of ai.onnx have from opset 21 on. A model of 16 bits is raised to it, unless they are those of
# single tensors.
_NARROW = {QuantType.QInt4, QuantType.QUInt4}
_WIDE = {QuantType.QInt16, QuantType.QUInt16} | _NARROW


def quant_type(kind: Any) -> Any:
    """A QuantType, also of ONNX's number of it."""
    if isinstance(kind, int) and not isinstance(kind, bool):
        return QuantType.from_tensor_type(kind)
    return kind


def _types(kind: Any, argument: str) -> str:
    kind = quant_type(kind)
    if not isinstance(kind, QuantType):
        raise ValueError(f"{argument} expects a QuantType, but got {kind!r}")
    return SHORT_NAMES[kind]


def _check_names(given: Any, argument: str) -> None:
    """A text, or a list within a tuple by a stray comma, is no list of names."""
    if given is None:
        return
    if isinstance(given, str):
        raise ValueError(f"{argument} expects a list of names, but got the text '{given}'")
    for name in given:
        if not isinstance(name, str):
            raise ValueError(f"{argument} expects a list of names, but got {given!r}")


def _check_kind(value: Any, kind: Any, argument: str) -> None:
    if not isinstance(value, kind):
        raise ValueError(f"{argument} expects one of {', '.join(f'{kind.__name__}.{m.name}' for m in kind)}, but got {value!r}")


def _nodes(path: Any, given: Optional[Sequence[str]], argument: str, known: List[str]) -> List[str]:
    """Names as expressions that match just them; ORT ignores unknown ones."""
    if given is None:
        return []
    _check_names(given, argument)
    result = []
    for name in given:
        if name in known:
            result.append(re.escape(name).replace(",", r"[,]"))
            continue
        near = difflib.get_close_matches(name, known, 1)
        logger.warning("%s: the model has no node '%s'%s", argument, name,
                       f"; did you mean '{near[0]}'?" if near else "")
    return result


def _overrides(overrides: Dict[str, Any], model: Any, activation_type: Any) -> Dict[str, Any]:
    """TensorQuantOverrides as the compiler has them, checked against a model."""
    graph = model.to_onnx().graph
    constants = {tensor.name: list(tensor.dims) for tensor in graph.initializer}
    names = {name for node in graph.node for name in [*node.input, *node.output] if name}
    names |= {info.name for info in graph.input}
    valid, reason = TensorQuantOverridesHelper(overrides).is_valid(constants, names, quant_type(activation_type))
    if not valid:
        raise ValueError(reason)
    result = {}
    for tensor, entries in overrides.items():
        if not entries or not entries[0]:
            continue
        converted = dict(_override(tensor, entries[0]))
        for key in ("scale", "zero_point", "rmin", "rmax"):
            if len(entries) > 1 and key in entries[0]:
                converted[key] = [_options.plain(entry[key]) for entry in entries]
        # Integers may come as floats.
        if "zero_point" in converted:
            zeros = converted["zero_point"]
            converted["zero_point"] = [int(zero) for zero in zeros] if isinstance(zeros, list) else int(zeros)
        result[tensor] = converted
    return result


def _override(tensor: str, entry: Dict[str, Any]) -> Dict[str, Any]:
    result = {key: _options.plain(value) for key, value in entry.items() if key not in ("quant_type", "convert")}
    if "quant_type" in entry:
        result["quant_type"] = _types(entry["quant_type"], f"override of '{tensor}'")
    if "recv_nodes" in entry:
        result["recv_nodes"] = sorted(entry["recv_nodes"])
    if "convert" in entry:
        result["convert"] = _override(tensor, entry["convert"])
    return result


def _method(calibrate_method: CalibrationMethod, extra: Dict[str, Any], float8: bool = False) -> Dict[str, Any]:
    """The options of calibration."""
    options: Dict[str, Any] = {}
    if calibrate_method == CalibrationMethod.MinMax:
        # Within one run of a reader it is a plain average; it moves from one part of the samples to the next.
        options["method"] = "average" if extra.get("CalibMovingAverage") else "minmax"
    elif calibrate_method == CalibrationMethod.Entropy:
        options["method"] = "entropy"
    elif calibrate_method == CalibrationMethod.Percentile:
        options["method"] = "percentile"
        options["percentile"] = extra.get("CalibPercentile", 99.999)
        # ORT's symmetric ranges end at the extremes that were seen.
        return options
    elif float8:
        options["method"] = "distribution"
    else:
        # Integers take all that was seen, on both sides of zero.
        options.update(method="minmax", symmetric=True)
    if "CalibTensorRangeSymmetric" in extra:
        options["symmetric"] = bool(extra["CalibTensorRangeSymmetric"])
    return options


def _check_extra(extra: Optional[Dict[str, Any]]) -> Dict[str, Any]:
    if extra is not None and not isinstance(extra, dict):
        raise ValueError(f"extra_options expects a dictionary, but got {extra!r}")
    extra = dict(extra or {})
    for key in extra:
        if key not in _EXTRA:
            near = difflib.get_close_matches(key, list(_EXTRA), 1)
            logger.warning("extra_options has no '%s'%s", key, f"; did you mean '{near[0]}'?" if near else "")
    return extra


def _extra_keywords(extra: Dict[str, Any]) -> Dict[str, Any]:
    known = _options.quantize_options()
    result = {}
    for key, value in extra.items():
        option = _EXTRA.get(key)
        # What says no more than the default needs no option.
        if option is None or value is None or value is False and key not in (
                "WeightSymmetric", "QuantizeBias", "MatMulConstBOnly", "SmoothQuantFolding"):
            continue
        if value in ([], {}, 0) and value is not False and key != "SmoothQuantAlpha":
            continue
        if key.startswith("SmoothQuant") and not extra.get("SmoothQuant"):
            continue
        if option not in known:
            raise NotImplementedError(f"extra_options '{key}' is not available in this package")
        if key == "QDQOpTypePerChannelSupportToAxis":
            value = [f"{op}:{int(axis)}" for op, axis in value.items()]
        result[option] = value
    if extra.get("QDQDisableWeightAdjustForInt32Bias"):
        result["adjust_weights_for_bias"] = False
    return result


def _known_ops(ops: Sequence[str], source: "_model.Model") -> List[str]:
    """Operators that the compiler can quantize, of those in the model."""
    there = {op for _, op in source.nodes}
    return [op for op in ops if op in there]


def _base(source: "_model.Model", per_channel: bool, reduce_range: bool, weight_type: QuantType,
          nodes_to_quantize: Any, nodes_to_exclude: Any, use_external_data_format: bool) -> Dict[str, Any]:
    names = [name for name, _ in source.nodes]
    keywords: Dict[str, Any] = {
        "compatible": "onnxruntime",
        "per_channel": bool(per_channel), "reduce_range": bool(reduce_range),
        "weight_type": _types(weight_type, "weight_type"),
        "skip_preprocess": True, "external_data": bool(use_external_data_format),
    }
    chosen = _nodes(source, nodes_to_quantize, "nodes_to_quantize", names)
    excluded = _nodes(source, nodes_to_exclude, "nodes_to_exclude", names)
    if chosen:
        keywords["nodes_to_quantize"] = chosen
    if excluded:
        keywords["nodes_to_exclude"] = excluded
    return keywords


def _source(model_input: Any) -> "_model.Model":
    if isinstance(model_input, (str, os.PathLike)) and not os.path.exists(model_input):
        raise FileNotFoundError(f"{os.fspath(model_input)}: no such model")
    return _model.load(model_input)


def check_static_quant_arguments(quant_format: QuantFormat, activation_type: QuantType, weight_type: QuantType) -> None:
    if activation_type == QuantType.QInt8 and weight_type == QuantType.QUInt8:
        raise ValueError(
            "ONNXRuntime quantization doesn't support data format:"
            "activation_type=QuantType.QInt8, weight_type=QuantType.QUInt8")
    floats = [kind == QuantType.QFLOAT8E4M3FN for kind in (activation_type, weight_type)]
    if floats[0] != floats[1]:
        raise ValueError(f"activation_type={activation_type} and weight_type={weight_type}: float8 goes with float8 only")
    wide = (QuantType.QInt16, QuantType.QUInt16)
    if quant_format != QuantFormat.QDQ and (activation_type in wide or weight_type in wide):
        raise ValueError("Only QuantFormat.QDQ supports 16-bit quantization types.")


def _add_types(keywords: Dict[str, Any], extra: Dict[str, Any], source: "_model.Model", activation_type: Any,
               weight_type: Any) -> None:
    """Overrides of tensors, and the quantizers of com.microsoft before opset 21."""
    kinds = {quant_type(activation_type), quant_type(weight_type)} & _NARROW
    overrides = extra.get("TensorQuantOverrides")
    if overrides:
        given = _overrides(overrides, source, activation_type)
        if given:
            keywords["tensor_overrides"] = given
        kinds |= TensorQuantOverridesHelper(overrides).get_quant_types()
    if extra.get("extra.Sigmoid.nnapi") and keywords["mode"] == "qlinear":
        # NNAPI's sigmoid gives 256ths; pairs have no such form.
        results = [node.output[0] for node in source.to_onnx().graph.node if node.op_type == "Sigmoid"]
        given = keywords.setdefault("tensor_overrides", {})
        for name in results:
            given.setdefault(name, {"scale": 1 / 256, "zero_point": 0})
        if not given:
            del keywords["tensor_overrides"]
    if keywords["mode"] == "qdq" and source.opset < 21 and kinds & _WIDE:
        keywords["contrib_qdq"] = True


def quantize_static(
    model_input: Any, model_output: Any, calibration_data_reader: Any = None,
    quant_format: QuantFormat = QuantFormat.QDQ, op_types_to_quantize: Optional[Sequence[str]] = None,
    per_channel: bool = False, reduce_range: bool = False, activation_type: QuantType = QuantType.QInt8,
    weight_type: QuantType = QuantType.QInt8, nodes_to_quantize: Optional[Sequence[str]] = None,
    nodes_to_exclude: Optional[Sequence[str]] = None, use_external_data_format: bool = False,
    calibrate_method: CalibrationMethod = CalibrationMethod.MinMax,
    calibration_providers: Optional[Sequence[str]] = None, extra_options: Optional[Dict[str, Any]] = None,
    calibration_cache_path: Any = None, optimize_model: bool = False,
) -> Any:
    """Quantizes a model by the ranges that a reader's samples give."""
    activation_type, weight_type = quant_type(activation_type), quant_type(weight_type)
    if activation_type == QuantType.QFLOAT8E4M3FN or weight_type == QuantType.QFLOAT8E4M3FN:
        if calibrate_method != CalibrationMethod.Distribution:
            raise ValueError("Only Distribution calibration method is supported for float quantization.")
    check_static_quant_arguments(quant_format, activation_type, weight_type)
    _check_kind(quant_format, QuantFormat, "quant_format")
    _check_kind(calibrate_method, CalibrationMethod, "calibrate_method")
    _check_names(op_types_to_quantize, "op_types_to_quantize")
    extra = _check_extra(extra_options)
    warn_of_providers(calibration_providers)
    source = _source(model_input)
    cached = calibration_cache_path is not None and os.path.exists(calibration_cache_path)
    if calibration_data_reader is None and not cached:
        raise ValueError("quantize_static expects calibration_data_reader, or calibration_cache_path of a file that exists")
    if optimize_model:
        source = _model.preprocess(source)
    keywords = _base(source, per_channel, reduce_range, weight_type, nodes_to_quantize, nodes_to_exclude,
                     use_external_data_format)
    keywords.update(_extra_keywords(extra))
    keywords["activation_type"] = _types(activation_type, "activation_type")
    keywords["mode"] = "qdq" if quant_format == QuantFormat.QDQ else "qlinear"
    if op_types_to_quantize:
        wanted = _known_ops(list(op_types_to_quantize), source)
        if quant_format != QuantFormat.QDQ:
            # Any operator may stand between pairs; few have quantized forms.
            wanted = [op for op in wanted if op in QLinearOpsRegistry]
        if not wanted:
            return _unchanged(source, model_output, use_external_data_format)
        keywords["op_types_to_quantize"] = wanted
    _add_types(keywords, extra, source, activation_type, weight_type)
    if extra.get("BlockSize"):
        _check_blocks(source, keywords.get("op_types_to_quantize"))
    float8 = activation_type == QuantType.QFLOAT8E4M3FN
    if float8 and quant_format != QuantFormat.QDQ:
        raise NotImplementedError("float8 is written in QuantFormat.QDQ only: no runtime has its QOperator form")
    method = _method(calibrate_method, extra, float8)
    if float8:
        # Float8 is symmetric: no quantizer stands for a Relu.
        keywords["keep_removable_activations"] = True
    stride = extra.get("CalibStridedMinMax")
    if calibration_cache_path is not None:
        data = _cached(source, calibration_data_reader, calibrate_method, method, calibration_cache_path,
                       bool(extra.get("SmoothQuant")))
        keywords["table"] = {name: tuple(float(v) for v in entry.range_value) for name, entry in data.items()}
        keywords["partial"] = True
    else:
        _write_augmented(source, calibration_data_reader)
        limit = extra.get("CalibMaxIntermediateOutputs")
        if (stride or limit) and method["method"] == "average":
            constant = extra.get("CalibMovingAverageConstant", 0.01)
            parts = _parts(calibration_data_reader, stride) if stride else chunks(calibration_data_reader, limit)
            keywords["table"] = _moved(source, parts, method, constant)
            keywords["partial"] = True
        else:
            parts = _parts(calibration_data_reader, stride) if stride else ()
            keywords["data"] = itertools.chain.from_iterable(parts) if stride else calibration_data_reader
            keywords.update(method)
    return _run(source, model_output, keywords)


def _parts(reader: Any, stride: int) -> Any:
    """One part of the reader's samples after the other, each an iterator."""
    total = len(reader)
    if total % stride != 0:
        raise ValueError(f"Total data size ({total}) is not divisible by stride size ({stride}).")

    def part(start: int) -> Any:
        reader.set_range(start_index=start, end_index=start + stride)
        while True:
            item = reader.get_next()
            if not item:
                return
            yield item

    return (part(start) for start in range(0, total, stride))


def _moved(source: "_model.Model", parts: Any, method: Dict[str, Any], constant: float) -> Dict[str, Tuple[float, float]]:
    """The moving average of the parts' averages."""
    ranges: Dict[str, Tuple[float, float]] = {}
    for part in parts:
        found = dict(_table.calibrate(source, part, progress=False, all=True, **method))
        ranges = move_ranges(ranges, found, constant) if ranges else found
    return ranges


def _check_blocks(source: "_model.Model", ops: Optional[Sequence[str]]) -> None:
    """Blocks are those of matrices."""
    graph = source.to_onnx().graph
    ranks = {tensor.name: len(tensor.dims) for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type in ("Conv", "ConvTranspose", "Gemm", "MatMul") and (ops is None or node.op_type in ops):
            rank = ranks.get(node.input[1], 2)
            if rank != 2:
                raise NotImplementedError(
                    f"BlockSize expects weights of rank 2, but '{node.input[1]}' of {node.op_type} '{node.name}' has "
                    f"rank {rank}; leave it out by op_types_to_quantize")


def _write_augmented(source: "_model.Model", reader: Any) -> None:
    """Readers of 1.5 to 1.10 open the augmented model that calibration wrote."""
    for name, value in list(getattr(reader, "__dict__", {}).items()):
        if (isinstance(value, (str, os.PathLike)) and os.fspath(value).endswith(".onnx") and "augmented" in os.fspath(value)
                and not os.path.exists(value)):
            source.save(value)


def _cached(source: "_model.Model", reader: Any, method: CalibrationMethod, options: Dict[str, Any], path: Any,
            smooth: bool) -> TensorsData:
    """Ranges from a cache, or computed and kept there."""
    if os.path.exists(path):
        data = load_tensors_data(path)
        if data.calibration_method != method:
            raise ValueError(f"{path}: is of method {data.calibration_method.name}, but {method.name} was asked for")
        if data.smooth_quant == smooth:
            return data
        told = f"{path}: was made with smooth_quant={data.smooth_quant}, but SmoothQuant is {smooth}"
        if reader is None:
            raise ValueError(f"{told}: calibration_data_reader is needed to make it anew")
        logger.warning("%s: it is made anew", told)
    from .calibrate import TensorData
    import numpy as np

    table = _table.calibrate(source, reader, progress=False, all=True, **options)
    data = TensorsData(method, {
        name: TensorData(lowest=np.array(low, np.float32), highest=np.array(high, np.float32))
        for name, (low, high) in table.items()})
    save_tensors_data(data, path, smooth_quant=smooth)
    return data


def _unchanged(source: "_model.Model", model_output: Any, external: bool) -> Any:
    logger.warning("the model has none of the operators that were asked for: it stays as it is")
    source.save(os.fspath(model_output), external_data=external)
    return _model.Model(os.fspath(model_output))


def _run(source: "_model.Model", model_output: Any, keywords: Dict[str, Any]) -> Any:
    try:
        return _quantization.quantize(source, out=os.fspath(model_output), progress=False, **keywords)
    except Error as error:
        if "no samples are left" in str(error):
            raise ValueError("No data is collected.") from error
        raise


def quantize_dynamic(
    model_input: Any, model_output: Any, op_types_to_quantize: Optional[Sequence[str]] = None,
    per_channel: bool = False, reduce_range: bool = False, weight_type: QuantType = QuantType.QInt8,
    nodes_to_quantize: Optional[Sequence[str]] = None, nodes_to_exclude: Optional[Sequence[str]] = None,
    use_external_data_format: bool = False, extra_options: Optional[Dict[str, Any]] = None,
    optimize_model: bool = False, activation_type: QuantType = QuantType.QUInt8,
) -> Any:
    """Quantizes weights; scales of activations are taken at run time."""
    _check_names(op_types_to_quantize, "op_types_to_quantize")
    extra = _check_extra(extra_options)
    source = _source(model_input)
    if optimize_model:
        source = _model.preprocess(source)
    keywords = _base(source, per_channel, reduce_range, weight_type, nodes_to_quantize, nodes_to_exclude,
                     use_external_data_format)
    if extra.get("ForceQuantizeNoInputCheck"):
        logger.warning("ForceQuantizeNoInputCheck changes nothing here: dynamic quantization is of products only")
        del extra["ForceQuantizeNoInputCheck"]
    keywords.update(_extra_keywords(extra))
    keywords.update(mode="integer", dynamic=True)
    asked = list(op_types_to_quantize or IntegerOpsRegistry)
    wanted = _known_ops(asked, source)
    if "MatMul" in asked and any(op == "Gemm" for _, op in source.nodes):
        wanted.append("Gemm")
    # The compiler reads these whole here; elsewhere they are taken apart.
    wanted += [op for op in ("Attention", "EmbedLayerNormalization") if op in asked]
    if not wanted:
        return _unchanged(source, model_output, use_external_data_format)
    keywords["op_types_to_quantize"] = wanted
    return _run(source, model_output, keywords)


def quantize_qat(
    model_input: Any, model_output: Any, op_types_to_quantize: Optional[Sequence[str]] = None,
    per_channel: bool = False, reduce_range: bool = False, activation_type: QuantType = QuantType.QUInt8,
    weight_type: QuantType = QuantType.QUInt8, nodes_to_quantize: Optional[Sequence[str]] = None,
    nodes_to_exclude: Optional[Sequence[str]] = None, use_external_data_format: bool = False,
) -> Any:
    """Takes over the quantizers that a model was trained with."""
    source = _source(model_input)
    ops = {op for _, op in source.nodes}
    if not ops & {"QuantizeLinear", "DequantizeLinear", "FakeQuant"}:
        # Up to 1.10 a float model was quantized by integer ops here.
        return quantize_dynamic(source, model_output, op_types_to_quantize, per_channel, reduce_range, weight_type,
                                nodes_to_quantize, nodes_to_exclude, use_external_data_format)
    if op_types_to_quantize or nodes_to_quantize or nodes_to_exclude or per_channel or reduce_range:
        logger.warning("quantize_qat takes over the quantizers that the model was trained with: operators, nodes, "
                       "per_channel and reduce_range of the call change nothing")
    return _quantization.quantize(source, out=os.fspath(model_output), mode="qat", qat_form="integer",
                                  external_data=use_external_data_format)


def quantize(model_input: Any, model_output: Any, quant_config: Any) -> Any:
    """Quantizes as a configuration says."""
    if isinstance(quant_config, StaticQuantConfig):
        return quantize_static(
            model_input, model_output, quant_config.calibration_data_reader,
            calibrate_method=quant_config.calibrate_method, quant_format=quant_config.quant_format,
            activation_type=quant_config.activation_type, weight_type=quant_config.weight_type,
            op_types_to_quantize=quant_config.op_types_to_quantize, nodes_to_quantize=quant_config.nodes_to_quantize,
            nodes_to_exclude=quant_config.nodes_to_exclude, per_channel=quant_config.per_channel,
            reduce_range=quant_config.reduce_range, use_external_data_format=quant_config.use_external_data_format,
            calibration_providers=quant_config.calibration_providers, extra_options=quant_config.extra_options)
    if isinstance(quant_config, DynamicQuantConfig):
        return quantize_dynamic(
            model_input, model_output, weight_type=quant_config.weight_type,
            op_types_to_quantize=quant_config.op_types_to_quantize, nodes_to_quantize=quant_config.nodes_to_quantize,
            nodes_to_exclude=quant_config.nodes_to_exclude, per_channel=quant_config.per_channel,
            reduce_range=quant_config.reduce_range, use_external_data_format=quant_config.use_external_data_format,
            extra_options=quant_config.extra_options)
    if type(quant_config).__name__.endswith("WeightOnlyQuantConfig"):
        from .matmul_nbits_quantizer import MatMulNBitsQuantizer
        import onnx

        model = model_input if hasattr(model_input, "graph") else onnx.load(os.fspath(model_input))
        quantizer = MatMulNBitsQuantizer(model, algo_config=quant_config)
        quantizer.process()
        quantizer.model.save_model_to_file(os.fspath(model_output), True)
        return quantizer.model.model
    raise TypeError("Invalid quantization config type, it must be either StaticQuantConfig or DynamicQuantConfig.")


def get_qdq_config(
    model_input: Any, calibration_data_reader: Any, calibrate_method: CalibrationMethod = CalibrationMethod.MinMax,
    calibrate_args: Optional[Dict[str, Any]] = None, activation_type: QuantType = QuantType.QUInt8,
    weight_type: QuantType = QuantType.QInt8, activation_symmetric: bool = False,
    weight_symmetric: Optional[bool] = None, per_channel: bool = False, reduce_range: bool = False,
    keep_removable_activations: bool = False, min_real_range: Optional[float] = None,
    tensor_quant_overrides: Optional[Dict[str, Any]] = None, calibration_providers: Optional[List[str]] = None,
    op_types_to_quantize: Optional[List[str]] = None,
    nodes_to_exclude: "List[str] | Callable[[Any, Any], bool] | None" = None,
    extra_options: Optional[Dict[str, Any]] = None,
) -> StaticQuantConfig:
    """A configuration that quantizes all of a model with QDQ."""
    import onnx

    given = model_input if isinstance(model_input, onnx.ModelProto) else onnx.load_model(
        os.fspath(model_input), load_external_data=False)
    external = any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in given.graph.initializer)
    ops = set(op_types_to_quantize) if op_types_to_quantize else None
    excluded = list(nodes_to_exclude) if isinstance(nodes_to_exclude, (list, tuple, set)) else []
    found = set()
    for node in given.graph.node:
        if ops is not None and node.op_type not in ops:
            continue
        if node.name in excluded:
            continue
        if callable(nodes_to_exclude) and nodes_to_exclude(given, node):
            excluded.append(node.name)
        else:
            found.add(node.op_type)
    options: Dict[str, Any] = {
        "MinimumRealRange": min_real_range, "QDQKeepRemovableActivations": keep_removable_activations,
        "ActivationSymmetric": activation_symmetric, "WeightSymmetric": weight_symmetric,
        "ForceQuantizeNoInputCheck": True, "TensorQuantOverrides": dict(tensor_quant_overrides or {}),
    }
    for key, (name, otherwise) in {
        "symmetric": ("CalibTensorRangeSymmetric", False), "moving_average": ("CalibMovingAverage", False),
        "averaging_constant": ("CalibMovingAverageConstant", 0.01),
        "max_intermediate_outputs": ("CalibMaxIntermediateOutputs", None), "percentile": ("CalibPercentile", 99.999),
    }.items():
        if calibrate_args and key in calibrate_args:
            options[name] = calibrate_args[key]
    opset = next((entry.version for entry in given.opset_import if entry.domain in ("", "ai.onnx")), 0)
    kinds = {activation_type, weight_type} & _NARROW
    kinds |= TensorQuantOverridesHelper(tensor_quant_overrides or {}).get_quant_types()
    if opset < 21 and kinds & _WIDE:
        options["UseQDQContribOps"] = True
    options.update(extra_options or {})
    wanted = found - {"Cast", "DequantizeLinear", "QuantizeLinear"}
    size = given.ByteSize()
    return StaticQuantConfig(
        calibration_data_reader, calibrate_method=calibrate_method, quant_format=QuantFormat.QDQ,
        activation_type=activation_type, weight_type=weight_type, op_types_to_quantize=op_types_to_quantize or sorted(wanted),
        nodes_to_exclude=excluded, per_channel=per_channel, reduce_range=reduce_range,
        use_external_data_format=external or size >= MODEL_SIZE_THRESHOLD,
        calibration_providers=calibration_providers, extra_options=options)
