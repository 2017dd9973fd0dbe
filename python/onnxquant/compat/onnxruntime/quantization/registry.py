"""Which operators each form quantizes."""

from __future__ import annotations

from typing import Any, Dict

_CommonOpsRegistry = dict.fromkeys(
    ("Gather", "Transpose", "EmbedLayerNormalization"), "default")
IntegerOpsRegistry: Dict[str, Any] = dict.fromkeys(
    ("Conv", "MatMul", "Attention", "LSTM", "Gather", "Transpose", "EmbedLayerNormalization"), "integer")
QLinearOpsRegistry: Dict[str, Any] = dict.fromkeys(
    ("ArgMax", "Conv", "Gemm", "MatMul", "Add", "Mul", "Relu", "Clip", "LeakyRelu", "Sigmoid", "MaxPool",
     "GlobalAveragePool", "Split", "Pad", "Reshape", "Squeeze", "Unsqueeze", "Resize", "AveragePool", "Concat",
     "Softmax", "Where", "Gather", "Transpose", "EmbedLayerNormalization"), "qlinear")
QDQRegistry: Dict[str, Any] = dict.fromkeys(
    ("Conv", "ConvTranspose", "Gemm", "Clip", "Relu", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten",
     "Resize", "MaxPool", "AveragePool", "Slice", "Pad", "MatMul", "Split", "Gather", "GatherElements", "Where",
     "InstanceNormalization", "LayerNormalization", "BatchNormalization", "TopK", "CumSum"), "qdq")
