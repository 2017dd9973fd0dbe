"""`from optimizer import *` of ESP-DL v1.x."""

import collections
import os
from typing import Any, Dict

import numpy as np
from onnxquant import esp
from onnxquant.esp import optimize_fp_model

from . import onnxoptimizer

__all__ = [
    "convert_model_batch_to_dynamic", "handle_prelu", "np", "onnxoptimizer", "optimize_fp_model", "os", "rename_node",
]


def convert_model_batch_to_dynamic(model: Any) -> Any:
    """A ModelProto whose first dimension is open, with shapes that follow."""
    return esp.optimize(model, passes=[]).to_onnx()


def handle_prelu(model_proto: Any) -> None:
    """Gives slopes [C] the shape [C, 1, 1], in place."""
    slopes = {node.input[1] for node in model_proto.graph.node if node.op_type == "PRelu"}
    for tensor in model_proto.graph.initializer:
        if tensor.name in slopes and len(tensor.dims) == 1:
            tensor.dims.extend([1, 1])


def rename_node(model_proto: Any) -> None:
    """Names nodes by operator and number: Conv_1, Conv_2, ... In place."""
    counts: Dict[str, int] = collections.Counter()
    for node in model_proto.graph.node:
        counts[node.op_type] += 1
        node.name = f"{node.op_type}_{counts[node.op_type]}"
