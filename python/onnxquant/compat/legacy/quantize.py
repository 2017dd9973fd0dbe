"""`quantize(model, ...)` of ONNX Runtime 0.5 to 1.4 and of the tool before it."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from onnxquant import quantization as _quantization
from onnxquant.errors import logger


class QuantizationMode:
    """How products are written; the plain names since 0.5, the others before."""

    IntegerOps = 0
    QLinearOps = 1
    IntegerOps_Static = "IntegerOps_Static"
    IntegerOps_Dynamic = "IntegerOps_Dynamic"
    QLinearOps_Static = "QLinearOps_Static"
    QLinearOps_Dynamic = "QLinearOps_Dynamic"


quantization_modes = ["IntegerOps", "QLinearOps"]


def _check(option: str, parameters: Optional[Dict[str, Any]]) -> Optional[Dict[str, List[Any]]]:
    """{name: [zero point, scale]} with plain numbers."""
    if not parameters:
        return None
    result = {}
    for name, pair in parameters.items():
        if pair is None or len(pair) != 2:
            raise ValueError(f"{option}: tensor '{name}' expects [zero point, scale], but got {pair!r}")
        result[name] = [int(pair[0]), float(pair[1])]
    return result


def quantize(
    model: Any,
    per_channel: Optional[bool] = None,
    nbits: int = 8,
    quantization_mode: Any = QuantizationMode.IntegerOps,
    static: Optional[bool] = None,
    force_fusions: bool = False,
    symmetric_activation: bool = False,
    symmetric_weight: bool = False,
    quantization_params: Optional[Dict[str, Any]] = None,
    nodes_to_quantize: Optional[List[str]] = None,
    nodes_to_exclude: Optional[List[str]] = None,
    op_types_to_quantize: Optional[List[str]] = None,
    asymmetric_input_types: bool = False,
    input_quantization_params: Optional[Dict[str, Any]] = None,
    output_quantization_params: Optional[Dict[str, Any]] = None,
) -> Any:
    """Quantizes a ModelProto and returns a new one; the given one stays.

    static=False takes scales of activations at run time; otherwise they are in
    quantization_params (or input_ and output_quantization_params), as
    {name: [zero point, scale]}.
    """
    import re

    if nbits not in (7, 8):
        raise ValueError(f"nbits expects 8 (or 7 for a reduced range), but got {nbits}")
    old = isinstance(quantization_mode, str) or getattr(quantization_mode, "name", "").endswith(("_Static", "_Dynamic"))
    if old:
        text = quantization_mode if isinstance(quantization_mode, str) else quantization_mode.name
        form, _, when = text.partition("_")
        static = when == "Static"
    else:
        number = getattr(quantization_mode, "value", quantization_mode)
        if number not in (0, 1):
            raise ValueError(f"quantization_mode expects IntegerOps or QLinearOps, but got {quantization_mode!r}")
        form = quantization_modes[number]
    if per_channel is None:
        per_channel = old
    inputs, outputs = dict(input_quantization_params or {}), dict(output_quantization_params or {})
    both = dict(quantization_params or {})
    values: Dict[str, Any] = {
        "compatible": "onnxruntime",
        "mode": "integer" if form == "IntegerOps" else "qlinear",
        "per_channel": bool(per_channel),
        "dynamic": not static,
        "reduce_range": nbits == 7,
        "weight_type": "s8" if asymmetric_input_types or symmetric_weight else "u8",
    }
    if symmetric_activation and static:
        values["symmetric_activations"] = True
    if symmetric_weight:
        values["symmetric_weights"] = True
    if static and not (inputs or outputs or both):
        raise ValueError("static=True expects quantization_params: {name: [zero point, scale]} of activations")
    # Only Conv and MatMul had quantized forms.
    values["op_types_to_quantize"] = op_types_to_quantize or ["Conv", "MatMul"]
    for name, listed in (("nodes_to_quantize", nodes_to_quantize), ("nodes_to_exclude", nodes_to_exclude)):
        if listed:
            values[name] = [re.escape(entry) for entry in listed]
    there = _tensor_names(model)
    merged_in = {k: v for k, v in {**both, **inputs}.items() if k in there or _unknown(k)}
    merged_out = {k: v for k, v in outputs.items() if k not in merged_in and (k in there or _unknown(k))}
    if form == "IntegerOps":
        merged_out = {}
    if merged_in:
        values["input_quantization_params"] = _check("input_quantization_params", merged_in)
    if merged_out:
        values["output_quantization_params"] = _check("output_quantization_params", merged_out)
    values["op_types_to_quantize"] = [
        op for op in values["op_types_to_quantize"] if any(node.op_type == op for node in model.graph.node)
    ]
    if not values["op_types_to_quantize"]:
        return _copy(model)
    return _quantization.quantize(model, progress=False, skip_preprocess=True, **values).to_onnx()


def _unknown(name: str) -> bool:
    logger.warning("quantization parameters: the model has no tensor '%s'", name)
    return False


def _tensor_names(model: Any) -> set:
    names = {info.name for info in [*model.graph.input, *model.graph.output]}
    for node in model.graph.node:
        names.update(node.input)
        names.update(node.output)
    return names


def _copy(model: Any) -> Any:
    result = type(model)()
    result.CopyFrom(model)
    return result
