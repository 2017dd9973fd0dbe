"""`python -m onnxruntime.quantization.static_quantize_runner`: static
quantization with the samples in test_data_set_* beside a model."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any, Dict, List, Optional

import numpy as np

from .calibrate import CalibrationDataReader, CalibrationMethod
from .quant_utils import QuantFormat, QuantType
from .quantize import QuantConfig, StaticQuantConfig, quantize

_TYPES = {kind.name.lower(): kind for kind in QuantType}


class OnnxModelCalibrationDataReader(CalibrationDataReader):
    """Samples from test_data_set_*/input_N.pb in the model's folder."""

    def __init__(self, model_path: Any) -> None:
        import onnx

        folder = os.path.dirname(os.path.abspath(model_path))
        model = onnx.load(os.fspath(model_path), load_external_data=False)
        constants = {tensor.name for tensor in model.graph.initializer}
        self.names = [info.name for info in model.graph.input if info.name not in constants]
        self.folders = sorted(
            os.path.join(folder, name) for name in os.listdir(folder)
            if name.startswith("test_data_set_") and os.path.isdir(os.path.join(folder, name)))
        self.at = 0

    def get_next(self) -> Optional[Dict[str, Any]]:
        import onnx
        from onnx import numpy_helper

        if self.at >= len(self.folders):
            return None
        folder = self.folders[self.at]
        self.at += 1
        sample = {}
        for index, name in enumerate(self.names):
            tensor = onnx.TensorProto()
            with open(os.path.join(folder, f"input_{index}.pb"), "rb") as file:
                tensor.ParseFromString(file.read())
            sample[name] = numpy_helper.to_array(tensor)
        return sample

    def rewind(self) -> None:
        self.at = 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Static quantization with the samples beside a model.")
    parser.add_argument("-i", "--input_model_path", required=True)
    parser.add_argument("-o", "--output_quantized_model_path", required=True)
    parser.add_argument("--activation_type", default="quint8", choices=list(_TYPES))
    parser.add_argument("--weight_type", default="qint8", choices=list(_TYPES))
    parser.add_argument("--calibration_method", default="minmax",
                        choices=[method.name.lower() for method in CalibrationMethod])
    parser.add_argument("--quant_format", default="qdq", choices=["qdq", "qoperator"])
    parser.add_argument("--minimum_real_range", type=float, default=0.0001)
    parser.add_argument("--disable_quantize_bias", action="store_true")
    for flag in ("per_channel", "reduce_range", "activation_symmetric", "weight_symmetric", "enable_subgraph",
                 "force_quantize_no_input_check", "matmul_const_b_only", "add_qdq_pair_to_weight", "dedicated_qdq_pair",
                 "qdq_keep_removable_activations", "qdq_disable_weight_adjust_for_int32_bias", "use_qdq_contrib_ops",
                 "calib_tensor_range_symmetric", "calib_moving_average", "use_external_data_format"):
        parser.add_argument(f"--{flag}", action="store_true")
    parser.add_argument("--calib_moving_average_constant", type=float, default=None)
    parser.add_argument("--calib_max_intermediate_outputs", type=int, default=None)
    for name in ("nodes_to_quantize", "nodes_to_exclude", "op_types_to_quantize",
                 "op_types_to_exclude_output_quantization"):
        parser.add_argument(f"--{name}", nargs="+", default=None)
    parser.add_argument("--op_per_channel_axis", nargs=2, action="append", default=[], metavar=("OP", "AXIS"))
    parser.add_argument("--tensor_quant_overrides", default=None, metavar="FILE")
    return parser.parse_args()


def _read_overrides(path: str) -> Dict[str, List[Dict[str, Any]]]:
    with open(path) as file:
        content = json.load(file)
    for entries in content.values():
        for entry in entries:
            for part in (entry, entry.get("convert", {})):
                for key in ("scale", "rmin", "rmax"):
                    if key in part:
                        part[key] = np.array(part[key], np.float32)
                if "zero_point" in part:
                    part["zero_point"] = np.array(part["zero_point"])
                if "quant_type" in part:
                    kind = str(part["quant_type"]).split(".")[-1]
                    part["quant_type"] = _TYPES[kind.lower() if kind.lower() in _TYPES else f"q{kind.lower()}"]
    return dict(content)


def get_config(args: argparse.Namespace) -> QuantConfig:
    """The configuration that the arguments describe."""
    extra: Dict[str, Any] = {
        "ActivationSymmetric": args.activation_symmetric, "WeightSymmetric": args.weight_symmetric or None,
        "EnableSubgraph": args.enable_subgraph, "ForceQuantizeNoInputCheck": args.force_quantize_no_input_check,
        "MatMulConstBOnly": args.matmul_const_b_only, "AddQDQPairToWeight": args.add_qdq_pair_to_weight,
        "DedicatedQDQPair": args.dedicated_qdq_pair,
        "QDQKeepRemovableActivations": args.qdq_keep_removable_activations,
        "QDQDisableWeightAdjustForInt32Bias": args.qdq_disable_weight_adjust_for_int32_bias,
        "UseQDQContribOps": args.use_qdq_contrib_ops, "MinimumRealRange": args.minimum_real_range,
        "QuantizeBias": not args.disable_quantize_bias,
        "CalibTensorRangeSymmetric": args.calib_tensor_range_symmetric,
        "CalibMovingAverage": args.calib_moving_average,
    }
    if args.calib_moving_average_constant is not None:
        extra["CalibMovingAverageConstant"] = args.calib_moving_average_constant
    if args.calib_max_intermediate_outputs is not None:
        extra["CalibMaxIntermediateOutputs"] = args.calib_max_intermediate_outputs
    if args.op_types_to_exclude_output_quantization:
        extra["OpTypesToExcludeOutputQuantization"] = args.op_types_to_exclude_output_quantization
    if args.op_per_channel_axis:
        extra["QDQOpTypePerChannelSupportToAxis"] = {op: int(axis) for op, axis in args.op_per_channel_axis}
    if args.tensor_quant_overrides:
        extra["TensorQuantOverrides"] = _read_overrides(args.tensor_quant_overrides)
    method = next(m for m in CalibrationMethod if m.name.lower() == args.calibration_method)
    return StaticQuantConfig(
        OnnxModelCalibrationDataReader(args.input_model_path), calibrate_method=method,
        quant_format=QuantFormat.QDQ if args.quant_format == "qdq" else QuantFormat.QOperator,
        activation_type=_TYPES[args.activation_type], weight_type=_TYPES[args.weight_type],
        op_types_to_quantize=args.op_types_to_quantize, nodes_to_quantize=args.nodes_to_quantize,
        nodes_to_exclude=args.nodes_to_exclude, per_channel=args.per_channel, reduce_range=args.reduce_range,
        use_external_data_format=args.use_external_data_format, extra_options=extra)


def main() -> None:
    args = parse_arguments()
    quantize(args.input_model_path, args.output_quantized_model_path, get_config(args))


if __name__ == "__main__":
    main()
