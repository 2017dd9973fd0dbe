"""Tensors and weights of a float and a quantized model, matched and compared."""

from __future__ import annotations

import math
import os
from typing import Any, Callable, Dict, List, Optional, Sequence

import numpy as np

from ..capi.onnxruntime_inference_collection import InferenceSession
from .quant_utils import (
    DEQUANT_OP_NAME, DEQUANT_OUTPUT_SUFFIX, QUANT_INPUT_SUFFIX, TENSOR_NAME_QUANT_SUFFIX, find_by_name)

_TENSOR_SAVE_POSTFIX = "_ReshapedSavedOutput"
_TENSOR_SAVE_POSTFIX_LEN = len(_TENSOR_SAVE_POSTFIX)
_POST_QDQ_POSTFIX1 = DEQUANT_OUTPUT_SUFFIX + "_1"


def modify_model_output_intermediate_tensors(
    input_model_path: Any, output_model_path: Any = None, op_types_for_saving: Optional[Sequence[str]] = None,
    save_as_external_data: bool = False,
) -> Any:
    """Writes a model in which each float tensor T is an output too, flat, as
    T_ReshapedSavedOutput. Up to 1.14 (model, op types) returned the model."""
    import onnx
    from onnx import helper, numpy_helper

    old = output_model_path is None or not isinstance(output_model_path, (str, os.PathLike))
    if old:
        op_types_for_saving = output_model_path
    model = input_model_path
    if isinstance(model, (str, os.PathLike)):
        model = onnx.load(os.fspath(model))
    inferred = onnx.ModelProto()
    inferred.CopyFrom(model)
    from .quant_utils import save_and_reload_model_with_shape_infer

    inferred = save_and_reload_model_with_shape_infer(inferred)
    from .calibrate import CalibraterBase

    chooser = CalibraterBase.__new__(CalibraterBase)
    chooser.op_types_to_calibrate = op_types_for_saving
    names, infos = chooser.select_tensors_to_calibrate(inferred)
    result = onnx.ModelProto()
    result.CopyFrom(model)
    shape_name = "LinearReshape_saved_output_shape"
    result.graph.initializer.append(numpy_helper.from_array(np.array([-1], np.int64), shape_name))
    for name in sorted(names):
        saved = name + _TENSOR_SAVE_POSTFIX
        result.graph.node.append(helper.make_node("Reshape", [name, shape_name], [saved], name=saved))
        result.graph.output.append(
            helper.make_tensor_value_info(saved, infos[name].type.tensor_type.elem_type, [None]))
    if old:
        return result
    onnx.save(result, os.fspath(output_model_path), save_as_external_data=save_as_external_data)
    return None


def collect_activations(
    augmented_model: Any, input_reader: Any, session_options: Any = None,
    execution_providers: Optional[Sequence[str]] = None,
) -> Dict[str, List["np.ndarray[Any, Any]"]]:
    """Each saved tensor's values, an array per sample."""
    model = augmented_model
    if not isinstance(model, (str, os.PathLike)):
        model = model.SerializeToString()
    session = InferenceSession(model, sess_options=session_options, providers=execution_providers)
    names = [output.name for output in session.get_outputs()]
    result: Dict[str, List[Any]] = {}
    count = 0
    while True:
        sample = input_reader.get_next()
        if not sample:
            break
        count += 1
        for name, value in zip(names, session.run(None, sample)):
            if name.endswith(_TENSOR_SAVE_POSTFIX):
                result.setdefault(name[:-_TENSOR_SAVE_POSTFIX_LEN], []).append(value)
    if count == 0:
        raise RuntimeError("No data is collected while running the model!")
    return result


def create_activation_matching(
    qdq_activations: Dict[str, Sequence[Any]], float_activations: Optional[Dict[str, Sequence[Any]]] = None
) -> Dict[str, Dict[str, Any]]:
    """Tensors before and after their quantizers, with the float model's."""
    result: Dict[str, Dict[str, Any]] = {}
    for name, values in qdq_activations.items():
        if name.endswith(QUANT_INPUT_SUFFIX):
            base = name[: -len(QUANT_INPUT_SUFFIX)]
            pre, post = values, qdq_activations.get(base)
        else:
            base, pre = name, values
            post = qdq_activations.get(name + DEQUANT_OUTPUT_SUFFIX, qdq_activations.get(name + _POST_QDQ_POSTFIX1))
        if post is None:
            continue
        result[base] = {"pre_qdq": pre, "post_qdq": post}
        if float_activations is not None and base in float_activations:
            result[base]["float"] = float_activations[base]
    if float_activations is not None:
        return {name: entry for name, entry in result.items() if "float" in entry}
    return result


def _run_dequantize_linear(
    weight: "np.ndarray[Any, Any]", scale: "np.ndarray[Any, Any]", zero_point: "np.ndarray[Any, Any]",
    channel_axis: int
) -> Optional["np.ndarray[Any, Any]"]:
    if weight.shape == () or scale.size == 1:
        return (weight.astype(np.float64) - zero_point.astype(np.float64).reshape(-1)[0]).astype(np.float32) * (
            scale.reshape(-1)[0])
    if scale.ndim != 1:
        return None
    shape = [1] * weight.ndim
    shape[channel_axis] = -1
    zeros = zero_point.astype(np.int64).reshape(shape) if zero_point.size > 1 else zero_point.astype(np.int64)
    return ((weight.astype(np.int64) - zeros) * scale.reshape(shape)).astype(scale.dtype)


def create_weight_matching(float_model_path: Any, qdq_model_path: Any) -> Dict[str, Dict[str, Any]]:
    """Weights of both models: {name: {float, dequantized}}."""
    import onnx
    from onnx import numpy_helper

    floats = onnx.load(os.fspath(float_model_path)).graph.initializer
    quantized = onnx.load(os.fspath(qdq_model_path))
    tensors = quantized.graph.initializer
    result = {}
    for node in quantized.graph.node:
        if node.op_type != DEQUANT_OP_NAME or not node.input[0].endswith(TENSOR_NAME_QUANT_SUFFIX):
            continue
        name = node.input[0][: -len(TENSOR_NAME_QUANT_SUFFIX)]
        weight, real = find_by_name(node.input[0], tensors), find_by_name(name, floats)
        scale = find_by_name(node.input[1], tensors)
        if weight is None or real is None or scale is None:
            continue
        values = numpy_helper.to_array(weight)
        zero = find_by_name(node.input[2], tensors) if len(node.input) > 2 else None
        axis = next((a.i for a in node.attribute if a.name == "axis"), 1)
        found = _run_dequantize_linear(
            values, numpy_helper.to_array(scale),
            numpy_helper.to_array(zero) if zero is not None else np.zeros((), values.dtype), axis)
        if found is not None:
            reference = numpy_helper.to_array(real)
            result[name] = {"float": reference, "dequantized": found.reshape(reference.shape)}
    return result


def compute_signal_to_quantization_noice_ratio(x: Any, y: Any) -> float:
    """20 log10(|x| / |x - y|); lists are joined."""
    if isinstance(x, (list, tuple)) or isinstance(y, (list, tuple)):
        lefts = x if isinstance(x, (list, tuple)) else [x]
        rights = y if isinstance(y, (list, tuple)) else [y]
        if len(lefts) != len(rights):
            raise RuntimeError("Unequal number of tensors to compare!")
        x = np.concatenate([np.asarray(part).ravel() for part in lefts])
        y = np.concatenate([np.asarray(part).ravel() for part in rights])
    epsilon = np.finfo("float").eps
    signal = max(float(np.linalg.norm(x)), epsilon)
    noise = max(float(np.linalg.norm(np.asarray(x) - np.asarray(y))), epsilon)
    return 20 * math.log10(signal / noise)


def compute_weight_error(
    weights_match: Dict[str, Dict[str, Any]],
    err_func: Callable[[Any, Any], float] = compute_signal_to_quantization_noice_ratio,
) -> Dict[str, float]:
    return {name: err_func(entry["float"], entry["dequantized"]) for name, entry in weights_match.items()}


def compute_activation_error(
    activations_match: Dict[str, Dict[str, Any]],
    err_func: Callable[[Any, Any], float] = compute_signal_to_quantization_noice_ratio,
) -> Dict[str, Dict[str, float]]:
    result: Dict[str, Dict[str, float]] = {}
    for name, entry in activations_match.items():
        result[name] = {"qdq_err": err_func(entry["pre_qdq"], entry["post_qdq"])}
        if "float" in entry:
            result[name]["xmodel_err"] = err_func(entry["float"], entry["post_qdq"])
    return result
