"""Weights in 4 bits as bitsandbytes stores them: MatMul becomes MatMulBnb4."""

from __future__ import annotations

import argparse
import logging
import os
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from ..capi._pybind_state import quantize_matmul_bnb4
from .onnx_model import ONNXModel

logger = logging.getLogger("onnxquant")


class MatMulBnb4Quantizer:
    """MatMulBnb4Quantizer(model, quant_type, block_size).process(); `model` is an ONNXModel then."""

    FP4 = 0
    NF4 = 1

    def __init__(self, model: Any, quant_type: int, block_size: int,
                 nodes_to_exclude: Optional[Sequence[str]] = None) -> None:
        import onnx

        if quant_type not in (self.FP4, self.NF4):
            raise ValueError(f"quant_type expects 0 (FP4) or 1 (NF4), but got {quant_type!r}")
        if block_size < 16 or block_size & (block_size - 1):
            raise ValueError(f"block_size expects a power of two from 16 on, but got {block_size}")
        if isinstance(model, (str, os.PathLike)):
            model = onnx.load(os.fspath(model))
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        self.model = ONNXModel(copy)
        self.quant_type, self.block_size = quant_type, block_size
        self.nodes_to_exclude = set(nodes_to_exclude or [])

    def bnb4_block_quant(self, fpweight: "np.ndarray[Any, Any]") -> Any:
        """(codes, largest magnitudes) of a matrix, whose columns lie one behind the other."""
        if fpweight.ndim != 2:
            raise ValueError(f"blocks are those of matrices, but the weight has rank {fpweight.ndim}")
        k, n = fpweight.shape
        packed = np.zeros((fpweight.size + 1) // 2, np.uint8)
        largest = np.zeros(-(-fpweight.size // self.block_size), fpweight.dtype)
        quantize_matmul_bnb4(packed, np.ascontiguousarray(fpweight.T), largest, self.block_size, self.quant_type, n, k)
        return packed, largest

    def process(self) -> None:
        """Replaces the products of constant matrices."""
        from onnx import helper

        graph = self.model.graph()
        self._process(graph, {})
        if not any(opset.domain == "com.microsoft" for opset in self.model.opset_import()):
            self.model.opset_import().extend([helper.make_opsetid("com.microsoft", 1)])
        self.model.clean_initializers()

    def _process(self, graph: Any, outer: Dict[str, Any]) -> None:
        known = {**outer, **{tensor.name: (tensor, graph) for tensor in graph.initializer}}
        for node in graph.node:
            for attribute in node.attribute:
                for inner in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
                    self._process(inner, known)
            if node.op_type == "MatMul" and node.input[1] in known and node.name not in self.nodes_to_exclude:
                self._replace(node, *known[node.input[1]])

    def _replace(self, node: Any, weight: Any, home: Any) -> None:
        from onnx import helper, numpy_helper

        values = numpy_helper.to_array(weight)
        if values.ndim != 2 or values.dtype not in (np.float32, np.float16):
            logger.debug("%s: its weight is no matrix of floats", node.name)
            return
        names = [f"{weight.name}_Bnb4", f"{weight.name}_absmax"]
        if not any(tensor.name == names[0] for tensor in home.initializer):
            for name, array in zip(names, self.bnb4_block_quant(values)):
                home.initializer.append(numpy_helper.from_array(array, name))
        k, n = values.shape
        node.CopyFrom(helper.make_node(
            "MatMulBnb4", [node.input[0], *names], list(node.output), f"{node.name}_Bnb4" if node.name else "",
            domain="com.microsoft", K=k, N=n, block_size=self.block_size, quant_type=self.quant_type))


def main(arguments: Optional[List[str]] = None) -> None:
    parser = argparse.ArgumentParser(description="Stores the weights of products in 4 bits of FP4 or NF4.")
    parser.add_argument("--input_model", required=True)
    parser.add_argument("--output_model", required=True)
    parser.add_argument("--quant_type", type=int, default=1, choices=[0, 1], help="0: FP4, 1: NF4")
    parser.add_argument("--block_size", type=int, default=64)
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--nodes_to_exclude", nargs="+", default=[])
    args = parser.parse_args(arguments)
    if args.verbose:
        logging.basicConfig(level=logging.DEBUG)
    if os.path.exists(args.output_model):
        parser.error(f"{args.output_model}: exists already")
    quantizer = MatMulBnb4Quantizer(args.input_model, args.quant_type, args.block_size, args.nodes_to_exclude)
    quantizer.process()
    quantizer.model.save_model_to_file(args.output_model, True)


if __name__ == "__main__":
    main()
