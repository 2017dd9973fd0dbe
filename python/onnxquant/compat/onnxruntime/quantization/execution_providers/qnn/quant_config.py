"""get_qnn_qdq_config: overrides that QNN's operators need."""

from __future__ import annotations

import copy
import logging
import os
from typing import Any, Dict, List, Optional

import numpy as np

from ...calibrate import CalibrationMethod
from ...quant_utils import MODEL_SIZE_THRESHOLD, QuantType
from ...quantize import StaticQuantConfig
from ...tensor_quant_overrides import TensorQuantOverridesHelper
from .mixed_precision_overrides_utils import MixedPrecisionTensorQuantOverridesFixer

logger = logging.getLogger("onnxquant")

_BITS_8 = (QuantType.QUInt8, QuantType.QInt8)
_BITS_16 = (QuantType.QUInt16, QuantType.QInt16)
_BITS_4 = (QuantType.QUInt4, QuantType.QInt4)
_LEFT_OUT = ("Cast",)
# Results in 16 bits that QNN expects with these parameters.
_FIXED = {
    ("Sigmoid", QuantType.QUInt16): (1 / 65536, 0), ("Sigmoid", QuantType.QInt16): (1 / 32768, 0),
    ("Tanh", QuantType.QUInt16): (1 / 32768, 32768), ("Tanh", QuantType.QInt16): (1 / 32768, 0),
}


class _Compatibility:
    """Adds what single operators need to overrides."""

    def __init__(self, activation: QuantType, weight: QuantType, weight_symmetric: bool, per_channel: bool,
                 overrides: TensorQuantOverridesHelper, constants: Dict[str, Any]) -> None:
        self.activation, self.weight, self.weight_symmetric = activation, weight, weight_symmetric
        self.per_channel, self.overrides, self.constants = per_channel, overrides, constants

    def add(self, node: Any) -> None:
        if node.op_type in ("Sigmoid", "Tanh"):
            self._fix_result(node)
        elif node.op_type in ("MatMul", "LayerNormalization"):
            if not self.per_channel:
                self._keep_weight_type(node)
            elif node.op_type == "MatMul":
                for name in node.input:
                    if name in self.constants and name not in self.overrides:
                        self.overrides.update_tensor_overrides(name, self._weight_entry())
            elif any(name in self.constants and name not in self.overrides for name in node.input[1:3]):
                raise ValueError("get_qnn_qdq_config() does not currently support the global per_channel option with "
                                 "LayerNormalization: give its weight and bias overrides of their own")

    def _weight_entry(self) -> Dict[str, Any]:
        return {"quant_type": self.weight, "symmetric": self.weight_symmetric}

    def _fix_result(self, node: Any) -> None:
        kind = self.overrides.get_node_output_qtype_info(node.output[0], self.activation).quant_type
        if (node.op_type, kind) not in _FIXED:
            return
        scale, zero = _FIXED[node.op_type, kind]
        self.overrides.update_tensor_overrides(node.output[0], {
            "quant_type": kind, "scale": np.array(scale, np.float32),
            "zero_point": np.array(zero, np.uint16 if kind == QuantType.QUInt16 else np.int16)})

    def _keep_weight_type(self, node: Any) -> None:
        """Constants beside an activation of 16 bits have the weights' 8."""
        if self.weight not in _BITS_8:
            return
        constant, is_wide = None, False
        for name in filter(None, node.input[:2]):
            is_constant = name in self.constants
            known = self.overrides.get_node_input_qtype_info(name, node.name,
                                                             None if is_constant else self.activation)
            if known.axis is not None:
                return
            if is_constant:
                if (known.quant_type, known.symmetric) == (self.weight, self.weight_symmetric):
                    return
                constant = name
            elif known.quant_type in _BITS_16:
                is_wide = True
        if not (constant and is_wide):
            return
        if not self.overrides.update_tensor_overrides(constant, self._weight_entry(), overwrite=False):
            logger.warning("%s: the overrides of '%s' keep QNN from running node '%s'", node.op_type, constant,
                           node.name)


def get_qnn_qdq_config(
    model_input: Any, calibration_data_reader: Any, calibrate_method: CalibrationMethod = CalibrationMethod.MinMax,
    activation_type: QuantType = QuantType.QUInt8, weight_type: QuantType = QuantType.QUInt8,
    per_channel: bool = False, init_overrides: Optional[Dict[str, List[Dict[str, Any]]]] = None,
    add_qtype_converts: bool = True, activation_symmetric: bool = False, weight_symmetric: Optional[bool] = None,
    keep_removable_activations: bool = False, stride: Optional[int] = None,
    calibration_providers: Optional[List[str]] = None, op_types_to_quantize: Optional[List[str]] = None,
    nodes_to_exclude: Optional[List[str]] = None,
) -> StaticQuantConfig:
    """A configuration whose QDQ model QNN can run; given overrides are extended."""
    import onnx

    if weight_symmetric is None:
        weight_symmetric = weight_type in (QuantType.QInt8, QuantType.QInt16)
    model = model_input if isinstance(model_input, onnx.ModelProto) else onnx.load_model(
        os.fspath(model_input), load_external_data=False)
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    overrides = TensorQuantOverridesHelper(copy.deepcopy(init_overrides or {}))
    if not overrides.empty() and add_qtype_converts:
        MixedPrecisionTensorQuantOverridesFixer.create_from_model(overrides, model, activation_type).apply(
            activation_type, activation_symmetric)
    compatibility = _Compatibility(activation_type, weight_type, weight_symmetric, per_channel, overrides, constants)
    found = set()
    for node in model.graph.node:
        if op_types_to_quantize and node.op_type not in op_types_to_quantize or node.name in (nodes_to_exclude or ()):
            continue
        found.add(node.op_type)
        compatibility.add(node)
    extra_options: Dict[str, Any] = {
        "MinimumRealRange": 0.0001, "DedicatedQDQPair": False,
        "QDQKeepRemovableActivations": keep_removable_activations, "TensorQuantOverrides": overrides.get_dict(),
        "ActivationSymmetric": activation_symmetric, "WeightSymmetric": weight_symmetric, "CalibStridedMinMax": stride,
    }
    opset = next(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))
    kinds = {activation_type, weight_type, *overrides.get_quant_types()}
    if opset < 21 and kinds & {*_BITS_16, *_BITS_4}:
        extra_options["UseQDQContribOps"] = True
    external = any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in constants.values())
    return StaticQuantConfig(
        calibration_data_reader, calibrate_method=calibrate_method, activation_type=activation_type,
        weight_type=weight_type, op_types_to_quantize=op_types_to_quantize or sorted(found - set(_LEFT_OUT)),
        nodes_to_exclude=nodes_to_exclude, per_channel=per_channel,
        use_external_data_format=external or model.ByteSize() >= MODEL_SIZE_THRESHOLD,
        calibration_providers=calibration_providers, extra_options=extra_options)
