"""ONNX Runtime's MinMax calibration, the work of its tool without the Python around it.

Its calibrator adds ReduceMin and ReduceMax of every float tensor that an operator to quantize reads or writes as
further outputs, runs all samples with optimizations turned off and the threads that are the default, and keeps the
extremes of these outputs. Here the model is made with the onnx package, outside of what is measured, and run by node.
"""

import json
import os

import onnx
from onnx import TensorProto, helper, shape_inference

import alternate
from support import harness

# The operators that ONNX Runtime's static quantization takes by default.
OP_TYPES = {
    "Add", "ArgMax", "AveragePool", "BatchNormalization", "Clip", "Concat", "Conv", "ConvTranspose",
    "EmbedLayerNormalization", "Gather", "GatherElements", "Gemm", "GlobalAveragePool", "InstanceNormalization",
    "LayerNormalization", "LeakyRelu", "MatMul", "MaxPool", "Mul", "Pad", "Relu", "Reshape", "Resize", "Sigmoid",
    "Slice", "Softmax", "Split", "Squeeze", "TopK", "Transpose", "Unsqueeze", "Where",
}
SERVE = alternate.SERVE.with_name("ort_calibrate.js")


def augment(path, target):
    """Writes the model with the extremes of its tensors as outputs; gives the tensors' names."""
    model = shape_inference.infer_shapes(onnx.load(path))
    graph = model.graph
    constants = {tensor.name for tensor in graph.initializer}
    constants.update(name for node in graph.node if node.op_type == "Constant" for name in node.output)
    floats = {value.name for value in [*graph.value_info, *graph.input, *graph.output]
              if value.type.tensor_type.elem_type in (TensorProto.FLOAT, TensorProto.FLOAT16)}
    chosen = {name: None for node in graph.node if node.op_type in OP_TYPES for name in [*node.input, *node.output]
              if name in floats and name not in constants}
    shape = "onnxquant_one_element"
    graph.initializer.append(helper.make_tensor(shape, TensorProto.INT64, [1], [1]))
    for name in chosen:
        for reduce in ("ReduceMin", "ReduceMax"):
            output = f"{name}_{reduce}"
            graph.node.append(helper.make_node(reduce, [name], [output + "_Reshape"], name=output, keepdims=1))
            graph.node.append(helper.make_node("Reshape", [output + "_Reshape", shape], [output]))
            graph.output.append(helper.make_tensor_value_info(output, TensorProto.FLOAT, [1]))
    onnx.save(model, target)
    return list(chosen)


def calibrate(model, name, dims, data, offset, samples, folder, threads=0):
    """Runs an augmented model over samples; what ort_calibrate.js prints."""
    job = folder / "ort_calibrate.json"
    job.write_text(json.dumps({"model": str(model), "input": name, "dims": dims, "data": str(data), "offset": offset,
                               "samples": samples, "threads": threads}))
    outcome = harness.run(["node", SERVE, job], timeout=3600, env={**os.environ, "ONNXQUANT_CACHE": str(harness.CACHE)})
    if outcome.status != 0:
        raise alternate.BenchError(f"ONNX Runtime {outcome.ended()}: {outcome.stderr.strip()[-500:]}")
    return json.loads(outcome.stdout)
