"""QDQQuantizer and ONNXQuantizer: models and ranges that are at hand."""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence

from .... import model as _model
from .... import quantization as _quantization
from .onnx_model import ONNXModel
from .quant_utils import QuantizationMode, QuantType
from .quantize import _add_types, _base, _check_extra, _extra_keywords, _known_ops, _types


class _Quantizer:
    form = "qdq"

    def __init__(self, model: Any, per_channel: bool, reduce_range: bool, weight_qType: Any,  # noqa: N803
                 activation_qType: Any, tensors_range: Any, nodes_to_quantize: Optional[Sequence[str]],  # noqa: N803
                 nodes_to_exclude: Optional[Sequence[str]], op_types_to_quantize: Sequence[str],
                 extra_options: Optional[Dict[str, Any]] = None) -> None:
        self.model = ONNXModel(model)
        self.per_channel, self.reduce_range = per_channel, reduce_range
        self.weight_qType, self.activation_qType = _kind(weight_qType), _kind(activation_qType)
        self.tensors_range = tensors_range
        self.nodes_to_quantize, self.nodes_to_exclude = nodes_to_quantize or [], nodes_to_exclude or []
        self.op_types_to_quantize = list(op_types_to_quantize)
        self.extra_options = _check_extra(extra_options)

    def quantize_model(self) -> Any:
        """The quantized ModelProto; that which was given stays as it is."""
        source = _model.Model(self.model.model)
        keywords = _base(source, self.per_channel, self.reduce_range, self.weight_qType, self.nodes_to_quantize,
                         self.nodes_to_exclude, False)
        keywords.update(_extra_keywords(self.extra_options))
        keywords["mode"] = self.form
        if self.tensors_range is None:
            keywords["dynamic"] = True
        else:
            keywords["activation_type"] = _types(self.activation_qType, "activation_qType")
            keywords["partial"] = True
            keywords["table"] = {
                name: tuple(float(v) for v in (entry.range_value if hasattr(entry, "range_value") else entry[:2]))
                for name, entry in self.tensors_range.items()
            }
        if self.op_types_to_quantize:
            keywords["op_types_to_quantize"] = _known_ops(self.op_types_to_quantize, source)
        _add_types(keywords, self.extra_options, source, self.activation_qType, self.weight_qType)
        result = _quantization.quantize(source, progress=False, **keywords)
        self.model = ONNXModel(result.to_onnx())
        return self.model.model


def _kind(kind: Any) -> QuantType:
    return kind if isinstance(kind, QuantType) else QuantType.from_tensor_type(int(kind))


class QDQQuantizer(_Quantizer):
    """QDQQuantizer(model, per_channel, reduce_range, weight, activation, ranges,
    nodes, excluded, op types, extra options); before 1.18 with mode and static
    after reduce_range."""

    def __init__(self, model: Any, per_channel: bool, reduce_range: bool, *arguments: Any, **keywords: Any) -> None:
        arguments = tuple(arguments)
        if arguments and (isinstance(arguments[0], QuantizationMode) or len(arguments) > 8):
            arguments = arguments[2:]
        keywords.pop("mode", None)
        keywords.pop("static", None)
        super().__init__(model, per_channel, reduce_range, *arguments, **keywords)


class ONNXQuantizer(_Quantizer):
    """The same for QOperator and integer forms."""

    def __init__(self, model: Any, per_channel: bool, reduce_range: bool, mode: Any, static: bool, *arguments: Any,
                 **keywords: Any) -> None:
        super().__init__(model, per_channel, reduce_range, *arguments, **keywords)
        self.form = "integer" if mode == QuantizationMode.IntegerOps else "qlinear"
        if not static:
            self.tensors_range = None
