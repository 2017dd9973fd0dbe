"""Weights of 2, 4 or 8 bits in blocks: MatMul becomes MatMulNBits."""

from __future__ import annotations

import argparse
import logging
import os
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from ..capi._pybind_state import _pack, block_parameters
from .onnx_model import ONNXModel
from .quant_utils import QuantFormat

logger = logging.getLogger("onnxquant")


class WeightOnlyQuantConfig:
    """What all algorithms have in common."""

    def __init__(self, algorithm: str, quant_format: QuantFormat = QuantFormat.QOperator,
                 op_types_to_quantize: Optional[Tuple[str, ...]] = None,
                 quant_axes: Optional[Tuple[Tuple[str, int], ...]] = None,
                 customized_weight_config: Optional[Dict[str, Any]] = None) -> None:
        self.algorithm, self.quant_format = algorithm, quant_format
        self.op_types_to_quantize = set(op_types_to_quantize) if op_types_to_quantize else {"MatMul"}
        self.quant_axes = dict(quant_axes) if quant_axes else {"MatMul": 0, "Gather": 1}
        self.customized_weight_config = customized_weight_config


class DefaultWeightOnlyQuantConfig(WeightOnlyQuantConfig):
    def __init__(self, block_size: int = 128, is_symmetric: bool = False, accuracy_level: Optional[int] = None,
                 quant_format: QuantFormat = QuantFormat.QOperator, op_types_to_quantize: Any = None,
                 quant_axes: Any = None, bits: int = 4, channel_wised_quantize: bool = False) -> None:
        super().__init__("DEFAULT", quant_format, op_types_to_quantize, quant_axes)
        self.block_size, self.is_symmetric, self.accuracy_level = block_size, is_symmetric, accuracy_level
        self.bits, self.channel_wised_quantize = bits, channel_wised_quantize


class RTNWeightOnlyQuantConfig(WeightOnlyQuantConfig):
    def __init__(self, ratios: Any = None, quant_format: QuantFormat = QuantFormat.QOperator,
                 op_types_to_quantize: Any = None, customized_weight_config: Any = None) -> None:
        super().__init__("RTN", quant_format, op_types_to_quantize, None, customized_weight_config)
        self.ratios = ratios or {}


class KQuantWeightOnlyQuantConfig(RTNWeightOnlyQuantConfig):
    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.algorithm = "k_quant"


class HQQWeightOnlyQuantConfig(WeightOnlyQuantConfig):
    def __init__(self, block_size: int = 128, bits: int = 4, axis: int = 1,
                 quant_format: QuantFormat = QuantFormat.QOperator, op_types_to_quantize: Any = None,
                 quant_axes: Any = None) -> None:
        super().__init__("HQQ", quant_format, op_types_to_quantize, quant_axes)
        self.block_size, self.bits, self.axis = block_size, bits, axis


class GPTQWeightOnlyQuantConfig(WeightOnlyQuantConfig):
    def __init__(self, calibration_data_reader: Any = None, percdamp: float = 0.01, block_size: int = 128,
                 actorder: bool = False, mse: bool = False, perchannel: bool = True,
                 quant_format: QuantFormat = QuantFormat.QOperator, op_types_to_quantize: Any = None) -> None:
        super().__init__("GPTQ", quant_format, op_types_to_quantize)
        self.calibration_data_reader, self.percdamp, self.block_size = calibration_data_reader, percdamp, block_size
        self.actorder, self.mse, self.perchannel = actorder, mse, perchannel


class MatMulNBitsQuantizer:
    """MatMulNBitsQuantizer(model, ...).process(); `model` is an ONNXModel then."""

    def __init__(
        self, model: Any, bits: int = 4, block_size: int = 128, is_symmetric: bool = False,
        accuracy_level: Optional[int] = None, nodes_to_exclude: Optional[List[str]] = None,
        nodes_to_include: Optional[List[str]] = None, quant_format: QuantFormat = QuantFormat.QOperator,
        op_types_to_quantize: Any = None, quant_axes: Any = None, channel_wised_quantize: bool = False,
        algo_config: Optional[WeightOnlyQuantConfig] = None,
    ) -> None:
        import onnx

        if isinstance(model, (str, os.PathLike)):
            model = onnx.load(os.fspath(model))
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        self.model = ONNXModel(copy)
        self.nodes_to_exclude = set(nodes_to_exclude or [])
        self.nodes_to_include = set(nodes_to_include or [])
        if algo_config is None:
            algo_config = DefaultWeightOnlyQuantConfig(
                block_size=block_size, is_symmetric=is_symmetric, accuracy_level=accuracy_level,
                quant_format=quant_format, op_types_to_quantize=op_types_to_quantize, quant_axes=quant_axes, bits=bits,
                channel_wised_quantize=channel_wised_quantize)
        if algo_config.algorithm not in ("DEFAULT", "RTN", "HQQ"):
            raise NotImplementedError(f"algorithm {algo_config.algorithm} is not available in this package")
        self.algo_config = algo_config
        self.bits = getattr(algo_config, "bits", bits)
        self.block_size = getattr(algo_config, "block_size", block_size)
        self.is_symmetric = getattr(algo_config, "is_symmetric", is_symmetric)
        self.accuracy_level = getattr(algo_config, "accuracy_level", accuracy_level)
        if self.bits not in (2, 4, 8):
            raise ValueError(f"bits expects 2, 4 or 8, but got {self.bits}")
        if self.block_size < 16 or self.block_size & (self.block_size - 1):
            raise ValueError(f"block_size expects a power of two from 16 on, but got {self.block_size}")
        if algo_config.quant_format != QuantFormat.QOperator:
            raise NotImplementedError("use onnxquant.quantize(model, block_size=..., weight_type='u4') for QDQ blocks")

    def process(self) -> None:
        """Replaces the products of constant matrices."""
        import onnx
        from onnx import helper, numpy_helper

        graph = self.model.graph()
        constants = {tensor.name: tensor for tensor in graph.initializer}
        nodes, made = [], []
        for node in graph.node:
            weight = constants.get(node.input[1]) if node.op_type == "MatMul" and len(node.input) > 1 else None
            chosen = node.name not in self.nodes_to_exclude and (
                not self.nodes_to_include or node.name in self.nodes_to_include)
            array = numpy_helper.to_array(weight) if weight is not None and chosen else None
            while array is not None and array.ndim > 2 and array.shape[0] == 1:
                array = array[0]
            if array is None or array.ndim != 2 or array.dtype.kind != "f" or "MatMul" not in self.algo_config.op_types_to_quantize:
                nodes.append(node)
                continue
            quantized = self._tensors(weight.name, array)
            made.extend(numpy_helper.from_array(value, name) for name, value in quantized)
            attributes = {"K": array.shape[0], "N": array.shape[1], "bits": self.bits, "block_size": self.block_size}
            if self.accuracy_level:
                attributes["accuracy_level"] = self.accuracy_level
            nodes.append(helper.make_node(
                "MatMulNBits", [node.input[0], *(name for name, _ in quantized)], list(node.output),
                name=f"{node.name}_Q{self.bits}" if node.name else "", domain="com.microsoft", **attributes))
        graph.ClearField("node")
        graph.node.extend(nodes)
        graph.initializer.extend(made)
        self.model.clean_initializers()
        if made:
            self.model.set_opset_import("com.microsoft", 1)
        assert isinstance(self.model.model, onnx.ModelProto)

    def _tensors(self, name: str, array: "np.ndarray[Any, Any]") -> List[Tuple[str, "np.ndarray[Any, Any]"]]:
        rows, columns = array.shape
        count = (rows + self.block_size - 1) // self.block_size
        padded = np.zeros((columns, count * self.block_size), np.float32)
        padded[:, :rows] = array.T
        blocks = padded.reshape(columns, count, self.block_size)
        if self.algo_config.algorithm == "HQQ":
            scale, zero, numbers = _half_quadratic(blocks, self.bits)
        else:
            scale, zero, numbers = block_parameters(blocks, self.bits, self.is_symmetric)
        result = [(f"{name}_Q{self.bits}", _pack(numbers, self.bits)),
                  (f"{name}_scales", scale.astype(array.dtype))]
        if not self.is_symmetric or self.algo_config.algorithm == "HQQ":
            packed = zero.astype(array.dtype) if zero.dtype.kind == "f" else _pack(zero, self.bits)
            result.append((f"{name}_zero_points", packed))
        return result


def _half_quadratic(blocks: "np.ndarray[Any, Any]", bits: int) -> Any:
    """Half-quadratic quantization: zero points that a few steps of shrinking
    the largest errors improve."""
    most = (1 << bits) - 1
    low, high = blocks.min(axis=-1, keepdims=True), blocks.max(axis=-1, keepdims=True)
    inverse = np.minimum(most / np.maximum(high - low, 1e-8), 2e4)
    zero = -low * inverse
    best, beta, power = np.inf, 10.0, 0.7
    kept = zero
    for _ in range(20):
        numbers = np.clip(np.round(blocks * inverse + zero), 0, most)
        error = blocks - (numbers - zero) / inverse
        shrunk = np.sign(error) * np.maximum(
            np.abs(error) - np.power(np.maximum(np.abs(error), 1e-8), power - 1) / beta, 0)
        zero = np.mean(numbers - (blocks - shrunk) * inverse, axis=-1, keepdims=True)
        beta *= 1.01
        current = float(np.abs(error).mean())
        if current >= best:
            break
        best, kept = current, zero
    numbers = np.clip(np.round(blocks * inverse + kept), 0, most).astype(np.uint8)
    return (1 / inverse)[..., 0].astype(np.float32), kept[..., 0].astype(np.float32), numbers


class MatMul4BitsQuantizer(MatMulNBitsQuantizer):
    """1.17 to 1.21: the same with 4 bits."""

    def __init__(self, model: Any, block_size: int = 128, is_symmetric: bool = False,
                 accuracy_level: Optional[int] = None, nodes_to_exclude: Optional[List[str]] = None,
                 nodes_to_include: Optional[List[str]] = None, quant_format: QuantFormat = QuantFormat.QOperator,
                 op_types_to_quantize: Any = None, quant_axes: Any = None,
                 algo_config: Optional[WeightOnlyQuantConfig] = None) -> None:
        super().__init__(model, 4, block_size, is_symmetric, accuracy_level, nodes_to_exclude, nodes_to_include,
                         quant_format, op_types_to_quantize, quant_axes, algo_config=algo_config)


def main() -> None:
    parser = argparse.ArgumentParser(description="Quantizes the weights of products in blocks.")
    parser.add_argument("--input_model", required=True)
    parser.add_argument("--output_model", required=True)
    parser.add_argument("--block_size", type=int, default=32)
    parser.add_argument("--quant_method", default="default", choices=["default", "hqq", "rtn", "k_quant", "gptq"])
    parser.add_argument("--bits", type=int, default=4)
    parser.add_argument("--symmetric", nargs="?", const="true", default="false")
    parser.add_argument("--accuracy_level", type=int, default=None)
    parser.add_argument("--nodes_to_exclude", nargs="*", default=[])
    parser.add_argument("--nodes_to_include", nargs="*", default=[])
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    symmetric = str(args.symmetric).lower() in ("true", "1")
    config: WeightOnlyQuantConfig
    if args.quant_method == "default":
        config = DefaultWeightOnlyQuantConfig(args.block_size, symmetric, args.accuracy_level, bits=args.bits)
    elif args.quant_method == "hqq":
        config = HQQWeightOnlyQuantConfig(args.block_size, args.bits)
    elif args.quant_method == "rtn":
        config = RTNWeightOnlyQuantConfig()
    else:
        raise SystemExit(f"--quant_method {args.quant_method} is not available in this package")
    quantizer = MatMulNBitsQuantizer(args.input_model, args.bits, args.block_size, symmetric, args.accuracy_level,
                                     args.nodes_to_exclude, args.nodes_to_include, algo_config=config)
    quantizer.process()
    quantizer.model.save_model_to_file(args.output_model)


if __name__ == "__main__":
    main()
