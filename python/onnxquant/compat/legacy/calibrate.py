"""calibrate.py of ONNX Runtime 1.2 to 1.4: ranges from a folder or a file of
tensors, and a quantized model."""

from __future__ import annotations

import argparse
import os
from typing import Any, Dict, List, Sequence, Tuple

import numpy as np

try:
    from . import data_preprocess
    from .quantize import QuantizationMode, quantize
except ImportError:  # run as a script, or found on the path
    import data_preprocess  # type: ignore[no-redef]
    from quantize import QuantizationMode, quantize  # type: ignore[no-redef]

from onnxquant import table as _table
from onnxquant.compat.onnxruntime.quantization.calibrate import ranges_to_parameters


def load_pb_file(data_file_name: Any, size_limit: int, samples: int, channels: int, height: int, width: int) -> Any:
    """The tensors of a TensorProto file: [dataset, samples, channels, height, width]."""
    import onnx
    from onnx import numpy_helper

    tensor = onnx.TensorProto()
    with open(data_file_name, "rb") as file:
        tensor.ParseFromString(file.read())
    array = numpy_helper.to_array(tensor)
    if array.ndim == 4:
        array = array[None]
    if array.ndim != 5 or array.shape[2] != channels or array.shape[3] != height or array.shape[4] != width:
        raise ValueError(f"{data_file_name}: expects shape [dataset, {samples}, {channels}, {height}, {width}], but got "
                         f"{list(array.shape)}")
    return array[:size_limit] if size_limit > 0 else array


def augment_graph(model: Any, calibration_op_types: Sequence[str] = ("Conv", "MatMul"), black_nodes: Sequence[str] = (),
                  white_nodes: Sequence[str] = ()) -> Any:
    """The model with ReduceMin and ReduceMax of what the operators give."""
    from onnx import helper

    result = type(model)()
    result.CopyFrom(model)
    for node in model.graph.node:
        if (node.op_type in calibration_op_types or node.name in white_nodes) and node.name not in black_nodes:
            for op in ("ReduceMin", "ReduceMax"):
                name = f"{node.name or node.output[0]}_{op}"
                result.graph.node.append(helper.make_node(op, [node.output[0]], [name], name, keepdims=0))
                result.graph.output.append(helper.make_tensor_value_info(name, 1, ()))
    return result


def _chosen(model: Any, op_types: Sequence[str], black_nodes: Sequence[str], white_nodes: Sequence[str]) -> List[str]:
    constants = {tensor.name for tensor in model.graph.initializer}
    return sorted({
        name
        for node in model.graph.node
        if (node.op_type in op_types or node.name in white_nodes) and node.name not in black_nodes
        for name in [*node.input, *node.output]
        if name and name not in constants
    })


def get_intermediate_outputs(
    model_path: Any, session: Any = None, inputs: Any = None, calib_mode: str = "naive",
    op_types: Sequence[str] = ("Conv", "MatMul"), black_nodes: Sequence[str] = (), white_nodes: Sequence[str] = (),
) -> Dict[str, Tuple[float, float]]:
    """Names to (min, max) over all inputs."""
    import onnx

    if calib_mode != "naive":
        raise ValueError(f"calib_mode expects naive, but got '{calib_mode}'")
    model = model_path if hasattr(model_path, "graph") else onnx.load(os.fspath(model_path))
    names = _chosen(model, op_types, black_nodes, white_nodes)
    return dict(_table.calibrate(model, iter(inputs), progress=False, all=True, names=names))


def calculate_quantization_params(model: Any, quantization_thresholds: Dict[str, Tuple[float, float]]) -> Dict[str, Any]:
    """Names to [zero point, scale]."""
    return ranges_to_parameters(model, quantization_thresholds)


def _shape(model: Any) -> Tuple[int, int, int, int]:
    constants = {tensor.name for tensor in model.graph.initializer}
    first = next(info for info in model.graph.input if info.name not in constants)
    dims = [dim.dim_value or 1 for dim in first.type.tensor_type.shape.dim]
    if len(dims) != 4:
        raise ValueError(f"input '{first.name}' expects images [N, C, H, W], but the model has {dims}")
    return dims[0], dims[1], dims[2], dims[3]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Finds ranges by running data, and quantizes a model by them.")
    parser.add_argument("--model_path", required=True)
    parser.add_argument("--dataset_path", required=True, help="a folder of images, or a TensorProto file")
    parser.add_argument("--output_model_path", default="calibrated_quantized_model.onnx")
    parser.add_argument("--augmented_model_path", default=None)
    parser.add_argument("--dataset_size", type=int, default=0, help="so many samples at most; 0: all")
    parser.add_argument("--data_preprocess", default=None,
                        choices=["preprocess_method1", "preprocess_method2", "None"])
    parser.add_argument("--calib_mode", default="naive", choices=["naive"])
    parser.add_argument("--force_fusions", default=False)
    parser.add_argument("--op_types", default="Conv,MatMul")
    parser.add_argument("--black_nodes", default="")
    parser.add_argument("--white_nodes", default="")
    return parser.parse_args()


def main() -> None:
    import onnx

    args = _arguments()
    model = onnx.load(args.model_path)
    samples, channels, height, width = _shape(model)

    def names(text: str) -> List[str]:
        return [part.strip() for part in text.split(",") if part.strip()]

    op_types, black, white = names(args.op_types), names(args.black_nodes), names(args.white_nodes)
    if os.path.isfile(args.dataset_path):
        inputs = load_pb_file(args.dataset_path, args.dataset_size, samples, channels, height, width)
    else:
        method = args.data_preprocess
        if method in (None, "None"):
            raise SystemExit("--data_preprocess is needed for a folder of images")
        inputs = data_preprocess.load_batch(args.dataset_path, height, width, method, args.dataset_size)
    if args.augmented_model_path:
        onnx.save(augment_graph(model, op_types, black, white), args.augmented_model_path)
    ranges = get_intermediate_outputs(model, None, np.asarray(inputs, np.float32), args.calib_mode, op_types, black, white)
    parameters = calculate_quantization_params(model, ranges)
    quantized = quantize(model, quantization_mode=QuantizationMode.QLinearOps, static=True,
                         quantization_params=parameters, force_fusions=bool(args.force_fusions),
                         nodes_to_exclude=black or None)
    onnx.save(quantized, args.output_model_path)
    print("Calibrated, quantized model saved.")


if __name__ == "__main__":
    main()
