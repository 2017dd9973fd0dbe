"""Weights of 2, 4 or 8 bits in blocks: MatMul becomes MatMulNBits."""

from __future__ import annotations

import argparse
import logging
import os
import re
from typing import Any, Dict, List, Optional, Tuple

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
        if algo_config.algorithm not in _ALGORITHMS:
            raise NotImplementedError(f"algorithm {algo_config.algorithm} is not available in this package")
        if "Gather" in algo_config.op_types_to_quantize and algo_config.quant_axes.get("Gather", 1) != 1:
            raise NotImplementedError("quant_axes of Gather expects 1: blocks lie along the rows of a table")
        if getattr(algo_config, "channel_wised_quantize", False):
            raise NotImplementedError("channel_wised_quantize is not available; quantize_dynamic with QInt4 and "
                                      "per_channel has a scale for each channel")
        if getattr(algo_config, "ratios", None):
            raise NotImplementedError("ratios are not available; k_quant searches for better scales by itself")
        if getattr(algo_config, "axis", 1) != 1:
            raise NotImplementedError("axis of HQQ expects 1: blocks lie along the rows that are summed")
        if is_symmetric and algo_config.algorithm in ("HQQ", "k_quant"):
            logger.warning("is_symmetric: %s chooses its zero points itself", algo_config.algorithm)
        if not getattr(algo_config, "perchannel", True):
            raise NotImplementedError("perchannel=False is not available: blocks belong to one channel")
        self.algo_config = algo_config
        self.bits = getattr(algo_config, "bits", bits)
        # GPTQ's block size is that of its updates, not that of the scales.
        own = algo_config.algorithm in ("DEFAULT", "HQQ")
        self.block_size = algo_config.block_size if own else block_size  # type: ignore[attr-defined]
        self.is_symmetric = getattr(algo_config, "is_symmetric", is_symmetric)
        self.accuracy_level = getattr(algo_config, "accuracy_level", accuracy_level)
        if self.bits not in (2, 4, 8):
            raise ValueError(f"bits expects 2, 4 or 8, but got {self.bits}")
        if self.block_size < 16 or self.block_size & (self.block_size - 1):
            raise ValueError(f"block_size expects a power of two from 16 on, but got {self.block_size}")

    def process(self) -> None:
        """Replaces the products of constant matrices."""
        special: Dict[Tuple[int, int, bool], List[str]] = {}
        usual = (self.bits, self.block_size, self.is_symmetric)
        for name, entry in (self.algo_config.customized_weight_config or {}).items():
            scheme = entry.get("scheme", "sym" if self.is_symmetric else "asym")
            form = (entry.get("bits", self.bits), entry.get("group_size", self.block_size), scheme == "sym")
            if form != usual and name not in self.nodes_to_exclude:
                special.setdefault(form, []).append(name)
        named = {name for names in special.values() for name in names}
        model = self.model.model
        for (bits, block_size, symmetric), names in special.items():
            model = self._stored(model, self._options(model, bits, block_size, symmetric, names, set()))
        left = self._options(model, *usual, sorted(self.nodes_to_include - named), self.nodes_to_exclude | named)
        if self._matters(model, left):
            model = self._stored(model, left)
        self.model = ONNXModel(model)

    def _stored(self, model: Any, options: Dict[str, Any]) -> Any:
        from onnxquant import quantize

        result = quantize(model, **options)
        model = result.to_onnx()
        if self.algo_config.quant_format == QuantFormat.QDQ:
            dequantized = {node.output[0]: node.name for node in model.graph.node if node.op_type == "DequantizeLinear"}
            for node in model.graph.node:
                if node.op_type == "MatMul" and dequantized.get(node.input[1]) == f"{node.name}_DQ_Q{options['weight_only']}":
                    node.name += f"_matmul_Q{options['weight_only']}"
        for node in result.report.nodes:
            logger.info("%s: %s", node["name"], "quantized" if node.get("quantized") else node.get("reason"))
        return model

    def _matters(self, model: Any, options: Dict[str, Any]) -> bool:
        """Whether a node is left that can be quantized: ONNX Runtime's tool writes others as they are."""
        constants = {tensor.name: tensor for tensor in model.graph.initializer}
        kinds, left = set(options["op_types_to_quantize"]), options["nodes_to_exclude"]
        chosen = options["nodes_to_quantize"]
        for graph in _graphs(model.graph):
            constants.update({tensor.name: tensor for tensor in graph.initializer})
            for node in graph.node:
                name = re.escape(node.name)
                if node.op_type not in kinds or name in left or (chosen and name not in chosen) or len(node.input) < 2:
                    continue
                weight = constants.get(node.input[0 if node.op_type == "Gather" else 1])
                if weight is not None and weight.data_type in (1, 10) and len(weight.dims) >= 2:
                    return True
        return False

    def _options(self, model: Any, bits: int, block_size: int, symmetric: bool, chosen: List[str],
                 excluded: Any) -> Dict[str, Any]:
        config = self.algo_config
        known = {node.name for graph in _graphs(model.graph) for node in graph.node}
        kinds = sorted(config.op_types_to_quantize)
        algorithm = _ALGORITHMS[config.algorithm]
        options: Dict[str, Any] = {
            "weight_only": bits, "block_size": block_size, "algorithm": algorithm, "op_types_to_quantize": kinds,
            # Zero points of these are chosen, whatever is asked for.
            "symmetric_weights": symmetric and algorithm not in ("hqq", "k-quant"),
            "nodes_to_exclude": [re.escape(name) for name in sorted(excluded) if name in known],
            "nodes_to_quantize": [re.escape(name) for name in chosen if name in known],
            "skip_preprocess": True,
        }
        if config.quant_format == QuantFormat.QDQ:
            options["mode"] = "qdq"
        elif self.accuracy_level:
            options["accuracy_level"] = self.accuracy_level
        if algorithm == "gptq":
            options["damping"] = config.percdamp  # type: ignore[attr-defined]
            options["act_order"] = bool(config.actorder)  # type: ignore[attr-defined]
            options["search_scales"] = bool(config.mse)  # type: ignore[attr-defined]
            options["data"] = config.calibration_data_reader  # type: ignore[attr-defined]
            if options["data"] is None:
                raise ValueError("GPTQ expects a calibration_data_reader")
        return options


_ALGORITHMS = {"DEFAULT": "rtn", "RTN": "rtn", "HQQ": "hqq", "k_quant": "k-quant", "GPTQ": "gptq"}


def _graphs(graph: Any) -> Any:
    """A graph and those inside its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)
            for inner in attribute.graphs:
                yield from _graphs(inner)


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
    parser.add_argument("--quant_format", default="QOperator", choices=["QOperator", "QDQ"])
    parser.add_argument("--op_types_to_quantize", nargs="+", choices=["MatMul", "Gather"])
    parser.add_argument("--quant_axes", nargs="+", type=lambda text: (text.split(":")[0], int(text.split(":")[1])))
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    symmetric = str(args.symmetric).lower() in ("true", "1")
    common: Dict[str, Any] = {"quant_format": QuantFormat.from_string(args.quant_format),
                              "op_types_to_quantize": args.op_types_to_quantize}
    config: WeightOnlyQuantConfig
    if args.verbose:
        logging.basicConfig()
        logger.setLevel(logging.INFO)
    if args.quant_axes and args.quant_method in ("rtn", "k_quant"):
        parser.error(f"--quant_axes is of the methods default and hqq, not of {args.quant_method}")
    if args.quant_method == "default":
        config = DefaultWeightOnlyQuantConfig(args.block_size, symmetric, args.accuracy_level, bits=args.bits,
                                              quant_axes=args.quant_axes, **common)
    elif args.quant_method == "hqq":
        config = HQQWeightOnlyQuantConfig(args.block_size, args.bits, quant_axes=args.quant_axes, **common)
    elif args.quant_method == "rtn":
        config = RTNWeightOnlyQuantConfig(**common)
    elif args.quant_method == "k_quant":
        config = KQuantWeightOnlyQuantConfig(**common)
    else:
        raise SystemExit("--quant_method gptq expects samples: give GPTQWeightOnlyQuantConfig a "
                         "calibration_data_reader")
    quantizer = MatMulNBitsQuantizer(args.input_model, args.bits, args.block_size, symmetric, args.accuracy_level,
                                     args.nodes_to_exclude, args.nodes_to_include, algo_config=config)
    quantizer.process()
    quantizer.model.save_model_to_file(args.output_model)


if __name__ == "__main__":
    main()
