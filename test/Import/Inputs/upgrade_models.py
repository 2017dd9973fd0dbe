#!/usr/bin/python3
"""Models of one node each, in forms that the operators had in old opsets.

    upgrade_models.py DIR            writes DIR/<case>.onnx
    upgrade_models.py --check DIR    and takes each there and back with onnxq-opt

The check: the export is of the opset the case names, passes the ONNX checker, and
imports to the same text as the original.
"""

import pathlib
import re
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

CASES = {}
# Constants that nothing reads any more stand elsewhere after the second import.
MOVED = {"tile-axis"}
TYPES = {
    "f32": TensorProto.FLOAT,
    "f64": TensorProto.DOUBLE,
    "i64": TensorProto.INT64,
    "i32": TensorProto.INT32,
    "ui8": TensorProto.UINT8,
    "i1": TensorProto.BOOL,
}


def case(name, opset, op, inputs, constants=None, outputs="y", exported=None, **attributes):
    """One node; `inputs` maps names to `"2x3xf32"` (`?`: unknown size, `*`: unknown
    rank), `constants` to arrays. The node reads inputs, then constants. `exported` is
    the opset that the model comes back with if it isn't its own; 0 for a model that is
    refused."""
    constants = constants or {}
    CASES[name] = (opset, op, inputs, constants, outputs.split(), exported, attributes)


def value_info(name, text):
    *dims, element = text.split("x")
    shape = None if dims == ["*"] else [None if d == "?" else d if d.isalpha() else int(d) for d in dims]
    return helper.make_tensor_value_info(name, TYPES[element], shape)


def build(name):
    opset, op, inputs, constants, outputs, _, attributes = CASES[name]
    names = list(inputs) + list(constants)
    node = helper.make_node(op, names, outputs, name="n", **attributes)
    results = [o for o in outputs if o]
    graph = helper.make_graph(
        [node],
        name,
        [value_info(i, t) for i, t in inputs.items()],
        [onnx.ValueInfoProto(name=o) for o in results[:1]],
        [numpy_helper.from_array(numpy.array(v), c) for c, v in constants.items()],
    )
    imports = [helper.make_operatorsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, producer_name="test", ir_version=8)


F = "2x3x4x5xf32"
i64 = numpy.int64
f32 = numpy.float32

# Elementwise.
case("relu-consumed", 1, "Relu", {"x": F}, consumed_inputs=[0])
case("add-equal", 6, "Add", {"x": F, "z": F})
case("add-suffix", 6, "Add", {"x": F, "z": "4x5xf32"}, broadcast=1)
case("add-scalar", 6, "Add", {"x": F, "z": "1xf32"}, broadcast=1)
case("add-axis", 6, "Add", {"x": F, "z": "3xf32"}, broadcast=1, axis=1, exported=7)
case("add-axis-last", 6, "Add", {"x": F, "z": "4x5xf32"}, broadcast=1, axis=2)
case("add-unranked", 6, "Add", {"x": "*xf32", "z": "3xf32"}, broadcast=1, axis=1, exported=0)
case("and-axis", 1, "And", {"x": "2x3xi1", "z": "2xi1"}, broadcast=1, axis=0, exported=7)
case("pow-broadcast", 1, "Pow", {"x": F, "z": "5xf32"}, broadcast=1)
case("prelu-channels", 6, "PRelu", {"x": F}, {"slope": f32([1, 2, 3])}, exported=7)
case("prelu-one", 6, "PRelu", {"x": F}, {"slope": f32([1])})
case("selu-old-defaults", 1, "Selu", {"x": F})
case("clip-attributes", 6, "Clip", {"x": F}, min=0.0, max=6.0)
case("clip-max-f64", 6, "Clip", {"x": "3xf64"}, max=6.0)
case("clip-kind", 6, "Clip", {"x": F}, min="zero", exported=0)
case("cast-name", 1, "Cast", {"x": F}, to="DOUBLE")
case("cast-unknown-name", 1, "Cast", {"x": F}, to="NUMBER", exported=0)
case("sum-equal", 7, "Sum", {"x": F, "z": F})
case("gemm-broadcast", 6, "Gemm", {"a": "2x3xf32", "b": "3x4xf32", "c": "4xf32"}, broadcast=1)
case("gemm-full", 6, "Gemm", {"a": "2x3xf32", "b": "3x4xf32", "c": "2x4xf32"})

# Tensors.
case("concat-default", 1, "Concat", {"x": F, "z": F})
case("concat-negative", 9, "Concat", {"x": F, "z": F}, axis=-1)
case("concat-negative-unranked", 9, "Concat", {"x": "*xf32", "z": "*xf32"}, axis=-1, exported=11)
case("flatten-negative", 9, "Flatten", {"x": F}, axis=-2)
case("pad-paddings", 1, "Pad", {"x": "2x3xf32"}, paddings=[0, 1, 0, 1])
case("pad-value", 2, "Pad", {"x": "2x3xf32"}, pads=[0, 1, 0, 1], value=1.5, mode="constant")
case("reshape-attribute", 1, "Reshape", {"x": F}, shape=[0, -1])
case("slice-attributes", 1, "Slice", {"x": F}, starts=[1, 0], ends=[2, -1], axes=[1, 3])
case("slice-no-axes", 9, "Slice", {"x": "2x3xf32"}, starts=[0, 1], ends=[2, 3])
case("slice-few", 9, "Slice", {"x": F}, starts=[1], ends=[2])
case("split-attribute", 2, "Split", {"x": F}, axis=1, split=[1, 2], outputs="y w")
case("split-equal", 11, "Split", {"x": "2x4xf32"}, axis=1, outputs="y w")
case("split-unknown", 13, "Split", {"x": "2x?xf32"}, axis=1, outputs="y w")
case("squeeze-axes", 1, "Squeeze", {"x": "1x3x1xf32"}, axes=[0, 2])
case("squeeze-all", 11, "Squeeze", {"x": "1x3x1xf32"})
case("unsqueeze-axes", 1, "Unsqueeze", {"x": "3xf32"}, axes=[0, 2])
case("unsqueeze-negative", 9, "Unsqueeze", {"x": "3xf32"}, axes=[-1])
case("tile-axis", 1, "Tile", {"x": "2x3xf32"}, {"tiles": f32([2]), "axis": f32([1])}, exported=6)
case("upsample-factors", 1, "Upsample", {"x": F}, height_scale=2.0, width_scale=3.0, mode="bilinear")
case("upsample-attribute", 7, "Upsample", {"x": F}, scales=[1.0, 1.0, 2.0, 2.0])
case("upsample-operand", 9, "Upsample", {"x": F}, {"s": f32([1, 1, 2, 2])}, mode="linear")
case("resize-10", 10, "Resize", {"x": F}, {"s": f32([1, 1, 0.5, 2])}, mode="nearest")
case(
    "resize-tf-half-pixel", 11, "Resize", {"x": F}, {"roi": f32([]), "s": f32([1, 1, 2, 2])},
    coordinate_transformation_mode="tf_half_pixel_for_nn", nearest_mode="floor",
)
case("scatter", 9, "Scatter", {"x": "4xf32", "i": "2xi64", "u": "2xf32"})
case("scatter-deprecated", 11, "Scatter", {"x": "4xf32", "i": "2xi64", "u": "2xf32"})
case("gather-negative", 11, "Gather", {"x": F}, {"i": i64([-1])})
case("one-hot-last", 9, "OneHot", {"i": "4xi64", "d": "1xi64", "v": "2xf32"}, axis=-1)
case("grid-sample", 16, "GridSample", {"x": "1x1x4x4xf32", "g": "1x6x6x2xf32"}, mode="bicubic")
case("shape", 13, "Shape", {"x": F})
case("depth-to-space", 1, "DepthToSpace", {"x": "1x8x2x3xf32"}, blocksize=2)

# Layers.
BN = {"x": F, "s": "3xf32", "b": "3xf32", "m": "3xf32", "v": "3xf32"}
case("softmax-last", 9, "Softmax", {"x": "2x3xf32"})
case("softmax-middle", 9, "Softmax", {"x": F})
case("softmax-ones", 9, "Softmax", {"x": "2x3x1x1xf32"}, axis=1)
case("softmax-unranked", 11, "LogSoftmax", {"x": "*xf32"}, axis=2)
case("hardmax-negative", 12, "Hardmax", {"x": "*xf32"}, axis=-1)
case("batch-norm-1", 1, "BatchNormalization", BN, consumed_inputs=[0, 0, 0, 1, 1], is_test=1)
case("batch-norm-6", 6, "BatchNormalization", BN, is_test=1, spatial=1)
case("batch-norm-9", 9, "BatchNormalization", BN, epsilon=0.25)
case("batch-norm-training", 9, "BatchNormalization", BN, outputs="y rm rv sm sv", exported=14)
case(
    "batch-norm-per-element", 7, "BatchNormalization",
    {"x": F, "s": "3x4x5xf32", "b": "3x4x5xf32", "m": "3x4x5xf32", "v": "3x4x5xf32"}, spatial=0,
)
case("dropout-6", 6, "Dropout", {"x": F}, is_test=1, ratio=0.25, outputs="y mask")
case("dropout-10", 10, "Dropout", {"x": F}, outputs="y mask")
case("dropout-trains", 6, "Dropout", {"x": F}, is_test=0, ratio=0.25, exported=12)
case("max-pool-1", 1, "MaxPool", {"x": F}, kernel_shape=[2, 2])
case("average-pool-1", 1, "AveragePool", {"x": F}, kernel_shape=[2, 2])
case("lp-pool-1", 1, "LpPool", {"x": F}, kernel_shape=[2, 2], p=3.0)
case("lp-pool-fraction", 1, "LpPool", {"x": F}, kernel_shape=[2, 2], p=1.5, exported=0)
case("global-lp-pool-1", 1, "GlobalLpPool", {"x": F}, p=1.0)
case("roi-align-10", 10, "RoiAlign", {"x": F, "r": "7x4xf32", "i": "7xi64"})
case(
    "group-norm-18", 18, "GroupNormalization", {"x": "2x4x5xf32", "s": "2xf32", "b": "2xf32"},
    num_groups=2, exported=21,
)
case(
    "group-norm-dynamic", 18, "GroupNormalization", {"x": "2x?x5xf32", "s": "2xf32", "b": "2xf32"},
    num_groups=2, exported=21,
)
case(
    "group-norm-instance", 18, "GroupNormalization", {"x": "2x4x5xf32", "s": "4xf32", "b": "4xf32"},
    num_groups=4,
)
case("mvn-1", 8, "MeanVarianceNormalization", {"x": F}, across_channels=1, exported=9)
case("mvn-mean", 8, "MeanVarianceNormalization", {"x": F}, normalize_variance=0)

# Reductions.
case("reduce-axes", 11, "ReduceMean", {"x": F}, axes=[-1, 0], keepdims=0)
case("reduce-negative", 9, "ReduceMax", {"x": F}, axes=[-1])
case("reduce-all", 17, "ReduceProd", {"x": F})
case("reduce-empty", 13, "ReduceL2", {"x": F}, axes=[])
case("reduce-sum-12", 12, "ReduceSum", {"x": F}, axes=[1])
case("arg-max", 1, "ArgMax", {"x": F}, axis=1)
case("top-k-attribute", 1, "TopK", {"x": "2x5xf32"}, k=3, outputs="y i")
case("top-k-10", 10, "TopK", {"x": "2x5xf32", "k": "1xi64"}, outputs="y i")

# The rest.
LSTM = {"x": "4x2x3xf32", "w": "1x20x3xf32", "r": "1x20x5xf32"}
case("lstm-1", 1, "LSTM", LSTM, hidden_size=5, output_sequence=1, outputs="y h")
case("gru-3", 3, "GRU", {"x": "4x2x3xf32", "w": "1x15x3xf32", "r": "1x15x5xf32"}, hidden_size=5, outputs="y h")
case("quantize-10", 10, "QuantizeLinear", {"x": F}, {"s": f32(0.5), "z": numpy.uint8(3)})
case("dequantize-10", 10, "DequantizeLinear", {"x": "2x3xui8"}, {"s": f32(0.5)})
case("dft-17", 17, "DFT", {"x": "1x8x1xf32"}, axis=1)


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True)


def check(path, opset, exported):
    first = run("onnxq-opt", path)
    if exported == 0:
        return "" if first.returncode == 1 and "error" in first.stderr else "isn't refused\n" + first.stderr
    if first.returncode:
        return "isn't imported\n" + first.stderr
    back = path.with_suffix(".back.onnx")
    export = run("onnxq-opt", path, "-o", back)
    if export.returncode:
        return "isn't exported\n" + export.stderr
    model = onnx.load(back)
    versions = [o.version for o in model.opset_import if o.domain in ("", "ai.onnx")]
    if versions != [exported or opset]:
        return f"is exported at opset {versions}, not {exported or opset}"
    # The checker has no inputs of unknown rank.
    if versions[0] <= 17 and all(i.type.tensor_type.HasField("shape") for i in model.graph.input):
        try:
            onnx.checker.check_model(model)
        except onnx.checker.ValidationError as error:
            return f"fails the checker: {error}"
    second = run("onnxq-opt", back)
    if path.stem in MOVED:
        return "" if second.returncode == 0 else second.stderr
    # The versions that the model had are part of the text.
    texts = [re.sub(r"ir_version = \d+|ai.onnx = \d+", "", t.stdout) for t in (first, second)]
    if texts[0] != texts[1]:
        return f"comes back different:\n{first.stdout}{second.stdout}{second.stderr}"
    return check_newest(path, first.stdout)


def check_newest(path, text):
    """The same at the newest opset, which has all forms as the dialect has them."""
    source = path.with_suffix(".newest.mlir")
    source.write_text(re.sub(r"ai.onnx = \d+", "ai.onnx = 23", text))
    target = path.with_suffix(".newest.onnx")
    export = run("onnxq-opt", source, "-o", target)
    again = run("onnxq-opt", target)
    same = re.sub(r"ir_version = \d+", "", again.stdout) == re.sub(r"ir_version = \d+", "", source.read_text())
    return "" if same else f"comes back different from opset 23:\n{text}{again.stdout}{export.stderr}{again.stderr}"


def main():
    checking = sys.argv[1] == "--check"
    folder = pathlib.Path(sys.argv[-1])
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name, (opset, *_, exported, _) in CASES.items():
        path = folder / (name + ".onnx")
        onnx.save(build(name), path)
        problem = check(path, opset, exported) if checking else ""
        if problem:
            failed += 1
            print(f"{name}: {problem}")
    if checking:
        print(f"{len(CASES) - failed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
