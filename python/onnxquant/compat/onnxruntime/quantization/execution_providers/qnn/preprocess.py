"""qnn_preprocess_model: fusions and layouts that QNN likes."""

from __future__ import annotations

import logging
import os
from typing import Any, List, Optional, Sequence

from ...fusions import FusionGelu, FusionLayerNormalization
from ...onnx_model import ONNXModel
from .fusion_lpnorm import FusionLpNormalization

logger = logging.getLogger("onnxquant")


def qnn_preprocess_model(
    model_input: Any, model_output: Any, fuse_layernorm: bool = False, save_as_external_data: bool = False,
    all_tensors_to_one_file: bool = False, external_data_location: Optional[str] = None,
    external_data_size_threshold: int = 1024, external_data_convert_attribute: bool = False,
    inputs_to_make_channel_last: Optional[List[str]] = None, outputs_to_make_channel_last: Optional[List[str]] = None,
) -> bool:
    """Writes a prepared model; False, and no file, where there is nothing to do."""
    import onnx

    loaded = onnx.ModelProto()
    loaded.CopyFrom(model_input if isinstance(model_input, onnx.ModelProto) else onnx.load_model(
        os.fspath(model_input)))
    model = ONNXModel(loaded)
    modified = FusionGelu(model).apply()
    modified |= FusionLpNormalization(model).apply()
    if fuse_layernorm:
        opset = next(entry.version for entry in loaded.opset_import if entry.domain in ("", "ai.onnx"))
        if opset < 17:
            logger.warning("LayerNormalization is in opset 17 and up, and the model has %d: it is not fused", opset)
        else:
            modified |= FusionLayerNormalization(model).apply()
    if inputs_to_make_channel_last or outputs_to_make_channel_last:
        update_io_to_channel_last(loaded, inputs_to_make_channel_last, outputs_to_make_channel_last)
        modified = True
    number = model.get_largest_node_name_suffix("qnn_preproc_node_")
    for node in loaded.graph.node:
        if node.op_type != "Constant" and not node.name:
            number += 1
            node.name = f"qnn_preproc_node_{number}"
            modified = True
    if modified:
        model.topological_sort()
        onnx.save_model(loaded, os.fspath(model_output), save_as_external_data=save_as_external_data,
                        all_tensors_to_one_file=all_tensors_to_one_file, location=external_data_location,
                        size_threshold=external_data_size_threshold,
                        convert_attribute=external_data_convert_attribute)
    return modified


def update_io_to_channel_last(model: Any, inputs_to_update: Optional[Sequence[str]],
                              outputs_to_update: Optional[Sequence[str]],
                              transpose_node_name_prefix: str = "Transpose_channel_",
                              transpose_node_name_start_suffix: Optional[int] = None) -> None:
    """Moves the channels of inputs and outputs to the end, with a Transpose each."""
    from onnx import helper

    graph = model.graph
    taken = {name for node in graph.node for name in [*node.input, *node.output]}
    if transpose_node_name_start_suffix is None:
        transpose_node_name_start_suffix = ONNXModel(model).get_largest_node_name_suffix(transpose_node_name_prefix) + 1
    number = transpose_node_name_start_suffix
    for names, infos, kind in ((inputs_to_update, graph.input, "input"), (outputs_to_update, graph.output, "output")):
        for name in dict.fromkeys(names or []):
            info = next((info for info in infos if info.name == name), None)
            if info is None:
                raise ValueError(f"{name} is not a graph {kind}")
            if not info.type.tensor_type.HasField("shape"):
                raise ValueError(f"Expected {kind} {name} to have a tensor_type with a shape")
            rank = len(info.type.tensor_type.shape.dim)
            if rank < 3:
                raise ValueError(f"Expected {kind} {name} to be of rank >= 3")
            inner = next(f"{name}_channel_first_{i}" for i in range(len(taken) + 1)
                         if f"{name}_channel_first_{i}" not in taken)
            taken.add(inner)
            known = graph.value_info.add()
            known.CopyFrom(info)
            known.name = inner
            for node in graph.node:
                ONNXModel.replace_node_input(node, name, inner)
                ONNXModel.replace_node_output(node, name, inner)
            dims = [type(dim).FromString(dim.SerializeToString()) for dim in info.type.tensor_type.shape.dim]
            info.type.tensor_type.shape.ClearField("dim")
            info.type.tensor_type.shape.dim.extend([dims[0], *dims[2:], dims[1]])
            to_last, to_first = [0, *range(2, rank), 1], [0, rank - 1, *range(1, rank - 1)]
            ends = [name, inner] if kind == "input" else [inner, name]
            graph.node.append(helper.make_node(
                "Transpose", [ends[0]], [ends[1]], name=f"{transpose_node_name_prefix}{number}",
                perm=to_first if kind == "input" else to_last))
            number += 1
