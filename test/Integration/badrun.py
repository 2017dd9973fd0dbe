#!/usr/bin/env -S /usr/bin/python3
"""Inputs that an op cannot work with at run time: indices out of range, sizes that don't go together,
division by zero, counts that are wrong.

Each case is a model of one node that can be compiled. Its run must end with an error that names the
node, never with a crash or a result; a second run checks every access to a buffer, and none may be the
first to notice. Prints a line per failure, then the totals.
"""

import pathlib
import tempfile

import numpy as np

from exec_tensor import Case, ints, random, run_all
from support.harness import Tally, require_tools

CASES = {}
X = random((2, 3, 4))
TOP, LOW = 2**63 - 1, -(2**63)


def bad(name, op, operands, results, forms="given open", opset=20, **options):
    """`results`: the ranks, or (rank, type) pairs."""
    outputs = []
    for entry in results:
        rank, kind = entry if isinstance(entry, tuple) else (entry, operands[0].dtype)
        outputs.append(np.zeros((1,) * rank, kind))
    CASES[name] = Case(op, operands, outputs, only=forms.split(), opset=opset, **options)


def floats(*values):
    return np.array(values, np.float32)


def add_indices():
    for index in (3, -4, TOP, LOW):
        bad(f"gather-{index}", "Gather", [X, ints(index)], [3], axis=1)
        bad(f"gather-elements-{index}", "GatherElements", [X, np.full((1, 1, 1), index)], [3], axis=1)
        bad(f"gather-nd-{index}", "GatherND", [X, np.array([[0, index]])], [2], lists=[1])
        bad(f"scatter-elements-{index}", "ScatterElements", [X, np.full((1, 1, 1), index), X[:1, :1, :1]], [3], axis=1)
        bad(f"scatter-nd-{index}", "ScatterND", [X, np.array([[0, index]]), X[:1, 0]], [3])
        bad(f"scatter-add-{index}", "ScatterElements", [X, np.full((1, 1, 1), index), X[:1, :1, :1]], [3], axis=1, reduction="add")
        bad(f"scatter-nd-add-{index}", "ScatterND", [X, np.array([[0, index]]), X[:1, 0]], [3], reduction="add")
    bad("gather-int32", "Gather", [X, np.array([5], np.int32)], [3], axis=2)
    bad("gather-empty", "Gather", [X[:, :0], ints(0)], [3], axis=1)
    bad("gather-elements-large", "GatherElements", [X, np.zeros((3, 3, 4), np.int64)], [3], "open", axis=1)
    bad("gather-nd-batch", "GatherND", [X, np.zeros((3, 1, 1), np.int64)], [3], "open", lists=[1], batch_dims=1)
    bad("scatter-elements-large", "ScatterElements", [X, np.zeros((3, 3, 4), np.int64), random((3, 3, 4))], [3], "open", axis=1)
    bad("scatter-elements-updates", "ScatterElements", [X, np.zeros((1, 1, 1), np.int64), X[:1, :1]], [3], "open", axis=1)
    bad("scatter-nd-updates", "ScatterND", [X, np.array([[0, 1]]), X[:1, 0, :2]], [3], "open")
    bad("compress-long", "Compress", [X, np.array([0, 0, 0, 1], bool)], [3], axis=1)
    bad("unpool", "MaxUnpool", [random((1, 1, 1, 1)), np.full((1, 1, 1, 1), 4)], [4], kernel_shape=[2, 2])
    bad("unpool-negative", "MaxUnpool", [random((1, 1, 1, 1)), np.full((1, 1, 1, 1), -1)], [4], kernel_shape=[2, 2])
    bad("one-hot-depth", "OneHot", [ints(1, 2), np.array(-3), X[0, 0, :2]], [(2, np.float32)])
    bad("one-hot-depth-huge", "OneHot", [ints(1, 2), np.array(TOP), X[0, 0, :2]], [(2, np.float32)])
    bad("loss", "NegativeLogLikelihoodLoss", [random((2, 3)), ints(0, 3)], [0])
    bad("entropy", "SoftmaxCrossEntropyLoss", [random((2, 3)), ints(0, -2)], [0])
    bad("roi", "RoiAlign", [random((1, 1, 4, 4)), np.ones((1, 4), np.float32), ints(1)], [4], output_height=2, output_width=2)
    bad("max-roi", "MaxRoiPool", [random((1, 1, 4, 4)), floats(3, 0, 0, 1, 1)[None]], [4], pooled_shape=[1, 1])
    bad("reverse", "ReverseSequence", [X, ints(2, 5)], [3], batch_axis=0, time_axis=1)
    bad("reverse-negative", "ReverseSequence", [X, ints(2, -1)], [3], batch_axis=0, time_axis=1)
    bad("reverse-count", "ReverseSequence", [X, ints(2, 1, 1)], [3], "open", batch_axis=0, time_axis=1)
    bad("lengths", "LSTM", [random((2, 2, 3)), random((1, 8, 3)), random((1, 8, 2)), None, np.array([1, 3], np.int32)],
        [4], hidden_size=2)


def add_counts():
    bad("reshape-elements", "Reshape", [X, ints(5, -1)], [2], "open ranked", lists=[1])
    bad("reshape-count", "Reshape", [X, ints(5, 5)], [2], "open ranked", lists=[1])
    bad("reshape-two-open", "Reshape", [X, ints(-1, -1)], [2], "open ranked", lists=[1])
    bad("reshape-negative", "Reshape", [X, ints(-2, -12)], [2], "open ranked", lists=[1])
    bad("reshape-huge", "Reshape", [X, ints(2**32, 2**32)], [2], "open ranked", lists=[1])
    bad("reshape-zero", "Reshape", [X, ints(2, 3, 4, 0)], [4], "open", lists=[1])
    bad("squeeze", "Squeeze", [X, ints(1)], [2], "open ranked", lists=[1])
    bad("split-sum", "Split", [X, ints(1, 4)], [3, 3], "open ranked", lists=[1], axis=-1)
    bad("split-negative", "Split", [X, ints(5, -1)], [3, 3], "given open ranked", lists=[1], axis=-1)
    bad("split-number", "Split", [X, ints(1, 1, 2)], [3, 3], "ranked", lists=[1], axis=-1)
    bad("slice-step", "Slice", [X, ints(0), ints(1), ints(0), ints(0)], [3], "given open ranked", lists=[1, 2, 3, 4])
    bad("slice-axis", "Slice", [X, ints(0), ints(1), ints(5)], [3], "open ranked", lists=[1, 2, 3])
    bad("slice-lists", "Slice", [X, ints(0, 0), ints(1)], [3], "ranked", lists=[1, 2])
    bad("tile-negative", "Tile", [X, ints(2, -1, 3)], [3], lists=[1])
    bad("tile-huge", "Tile", [X, ints(2**40, 2**40, 2**40)], [3], lists=[1])
    bad("expand-sizes", "Expand", [X, ints(2, 4)], [3], "open ranked", lists=[1])
    bad("expand-negative", "Expand", [X[:, :1], ints(2, -4, 4)], [3], "open ranked", lists=[1])
    bad("pad-negative", "Pad", [X, ints(0, 0, -5, 0, 0, 0)], [3], lists=[1])
    bad("pad-huge", "Pad", [X, ints(0, 0, TOP, 0, 0, TOP)], [3], lists=[1])
    bad("pad-reflect", "Pad", [X[:, :0], ints(0, 1, 0, 0, 1, 0)], [3], "open", lists=[1], mode="reflect")
    bad("pad-lists", "Pad", [X, ints(0, 0, 0, 0)], [3], "ranked", lists=[1])
    bad("constant-of-shape", "ConstantOfShape", [ints(2, -1)], [(2, np.float32)], "given")
    bad("constant-of-shape-huge", "ConstantOfShape", [ints(2**40, 2**40)], [(2, np.float32)], "given")
    bad("top-k", "TopK", [X, ints(5)], [3, (3, np.int64)])
    bad("top-k-negative", "TopK", [X, ints(-1)], [3, (3, np.int64)])
    bad("range-zero", "Range", [np.array(0), np.array(5), np.array(0)], [1], "given")
    bad("range-zero-float", "Range", [np.float32(0), np.float32(5), np.float32(0)], [1], "given")
    bad("range-huge", "Range", [np.array(0), np.array(TOP), np.array(1)], [1], "given")
    bad("range-nan", "Range", [np.float32(0), np.float32(np.nan), np.float32(1)], [1], "given")
    bad("crop-pad", "CenterCropPad", [X, ints(2, -3, 4)], [3], lists=[1])
    bad("resize-scale", "Resize", [X, None, floats(1, -1, 1), None], [3], lists=[2], opset=19)
    bad("resize-nan", "Resize", [X, None, floats(1, np.nan, 1), None], [3], lists=[2], opset=19)
    bad("resize-zero-scale", "Resize", [X, None, floats(1, 0, 1), None], [3], lists=[2], opset=19)
    bad("resize-negative", "Resize", [X, None, None, ints(2, -3, 4)], [3], lists=[3], opset=19)
    bad("resize-empty", "Resize", [X[:, :0], None, None, ints(2, 3, 4)], [3], "open", lists=[3], opset=19)
    bad("col2im", "Col2Im", [random((1, 4, 5)), ints(3, 3), ints(2, 2)], [4], "flexible", lists=[1, 2])
    bad("expand-low", "Expand", [X, ints(LOW)], [3], "open", lists=[1])
    bad("boxes", "NonMaxSuppression", [random((1, 3, 4)), random((1, 2, 4)), np.array([2])], [(2, np.int64)], "open")
    bad("boxes-batch", "NonMaxSuppression", [random((1, 3, 4)), random((2, 2, 3)), np.array([2])], [(2, np.int64)], "open")
    bad("affine", "AffineGrid", [random((1, 2, 3)), ints(1, 1, -2, 2)], [4], lists=[1])
    bad("affine-batch", "AffineGrid", [random((1, 2, 3)), ints(2, 1, 2, 2)], [4], "open", lists=[1])
    bad("depth-to-space", "DepthToSpace", [random((1, 7, 2, 2))], [4], "open", blocksize=2)
    bad("space-to-depth", "SpaceToDepth", [random((1, 1, 3, 2))], [4], "open", blocksize=2)
    bad("dft-length", "DFT", [random((1, 4, 1)), np.array(0)], [3], axis=1, opset=17)
    bad("window", "HannWindow", [np.array(-3)], [(1, np.float32)], "given")


def add_division():
    for kind in (np.int8, np.uint8, np.int32, np.int64, np.uint64):
        name, x = np.dtype(kind).name, np.array([1, 2, 3], kind)
        bad(f"div-{name}", "Div", [x, np.array([1, 0, 2], kind)], [1])
        bad(f"div-scalar-{name}", "Div", [x, np.array(0, kind)], [1])
        bad(f"mod-{name}", "Mod", [x, np.array([1, 0, 2], kind)], [1])
    bad("fmod-int32", "Mod", [np.array([1, 2], np.int32), np.array([1, 0], np.int32)], [1], fmod=1)


def add_shapes():
    """Sizes that only the run knows, and that don't go together."""
    def both(name, op, operands, ranks, **options):
        bad(name, op, operands, ranks, "open", **options)
    for op in ("Add", "Mul", "Pow", "Max", "Mean"):
        both(f"{op}-sizes", op, [X, random((2, 2, 4))], [3])
    both("where", "Where", [np.zeros((2, 1), bool), random((2, 3)), random((2, 4))], [(2, np.float32)])
    both("less", "Less", [X, random((3,))], [(3, bool)])
    both("concat", "Concat", [X, random((3, 3, 4))], [3], axis=1)
    both("matmul", "MatMul", [random((2, 3)), random((4, 5))], [2])
    both("matmul-batch", "MatMul", [random((2, 3, 4)), random((3, 4, 5))], [3])
    both("gemm", "Gemm", [random((2, 3)), random((4, 5))], [2])
    both("gemm-bias", "Gemm", [random((2, 3)), random((3, 5)), random((4,))], [2])
    both("einsum", "Einsum", [random((2, 3)), random((4, 5))], [2], equation="ij,jk->ik")
    both("conv-channels", "Conv", [random((1, 3, 5, 5)), random((4, 2, 3, 3))], [4])
    both("conv-window", "Conv", [random((1, 3, 5, 5)), random((4, 3, 7, 3))], [4])
    both("conv-bias", "Conv", [random((1, 3, 5, 5)), random((4, 3, 3, 3)), random((5,))], [4])
    both("conv-group", "Conv", [random((1, 4, 5, 5)), random((3, 2, 3, 3))], [4], group=2)
    both("conv-transpose", "ConvTranspose", [random((1, 3, 5, 5)), random((4, 2, 3, 3))], [4])
    both("pool-window", "MaxPool", [random((1, 3, 5, 5))], [4], kernel_shape=[6, 2])
    both("batch-norm", "BatchNormalization", [random((1, 3, 2)), random((4,)), random((3,)), random((3,)), random((3,))], [3], opset=15)
    both("layer-norm", "LayerNormalization", [X, random((3,))], [3], opset=17)
    both("instance-norm", "InstanceNormalization", [X, random((2,)), random((3,))], [3])
    both("group-norm", "GroupNormalization", [random((1, 4, 2)), random((3,)), random((4,))], [3], num_groups=2, opset=21)
    both("prelu", "PRelu", [X, random((3,))], [3])
    both("lstm-width", "LSTM", [random((2, 2, 3)), random((1, 8, 4)), random((1, 8, 2))], [4], hidden_size=2)
    both("gru-state", "GRU", [random((2, 2, 3)), random((1, 6, 3)), random((1, 6, 2)), None, None, random((1, 3, 2))], [4], hidden_size=2)
    both("dequantize", "DequantizeLinear", [np.zeros((2, 3), np.int8), floats(1, 1), np.zeros(2, np.int8)], [(2, np.float32)], axis=1)
    both("quantize", "QuantizeLinear", [random((2, 3)), floats(1, 1), np.zeros(2, np.int8)], [(2, np.int8)], axis=1)
    both("qlinear-matmul", "QLinearMatMul", [np.zeros((2, 3), np.uint8), np.float32(1), np.uint8(0), np.zeros((4, 2), np.uint8),
                                             np.float32(1), np.uint8(0), np.float32(1), np.uint8(0)], [2])
    both("matmul-integer", "MatMulInteger", [np.zeros((2, 3), np.uint8), np.zeros((4, 2), np.uint8)], [(2, np.int32)])
    both("grid", "GridSample", [random((2, 1, 3, 3)), random((1, 2, 2, 2))], [4])
    both("det", "Det", [random((2, 3))], [0])


def add_empties():
    """Operands that must have one element, and axes that must have some, without any."""
    none, no_float, no_bytes = ints(), floats(), np.zeros(0, np.uint8)
    one, zero = np.ones(1, np.float32), np.zeros(1, np.uint8)

    def empty(name, op, operands, ranks, **options):
        bad(f"empty-{name}", op, operands, ranks, "open ranked", **options)
    empty("top-k", "TopK", [X, none], [3, (3, np.int64)])
    empty("trilu", "Trilu", [X, none], [3])
    empty("cumsum", "CumSum", [X, none], [3])
    empty("one-hot", "OneHot", [ints(1, 2), none, X[0, 0, :2]], [(2, np.float32)])
    empty("one-hot-values", "OneHot", [ints(1, 2), ints(3), no_float], [(2, np.float32)])
    empty("window", "HannWindow", [none], [(1, np.float32)])
    empty("dft", "DFT", [random((1, 4, 1)), none], [3], axis=1, opset=17)
    empty("range", "Range", [none, ints(5), ints(1)], [1])
    empty("pad", "Pad", [X, ints(0, 0, 1, 0, 0, 1), no_float], [3])
    empty("pads", "Pad", [X, none], [3])
    empty("clip", "Clip", [X, no_float], [3])
    empty("boxes", "NonMaxSuppression", [random((1, 3, 4)), random((1, 2, 3)), none], [(2, np.int64)])
    empty("quantize", "QuantizeLinear", [X, no_float, no_bytes], [(3, np.uint8)])
    empty("dequantize", "DequantizeLinear", [np.zeros((2, 3), np.uint8), no_float, no_bytes], [(2, np.float32)])
    empty("matmul-integer", "MatMulInteger", [np.zeros((2, 3), np.uint8), np.zeros((3, 2), np.uint8), no_bytes], [(2, np.int32)])
    empty("conv-integer", "ConvInteger", [np.zeros((1, 1, 3, 3), np.uint8), np.zeros((1, 1, 2, 2), np.uint8), no_bytes], [(4, np.int32)])
    for place in range(8):
        if place in (0, 3):
            continue
        operands = [np.zeros((2, 3), np.uint8), one, zero, np.zeros((3, 2), np.uint8), one, zero, one, zero]
        operands[place] = operands[place][:0]
        empty(f"qlinear-matmul-{place}", "QLinearMatMul", operands, [2])
    for op in ("ArgMax", "ArgMin"):
        empty(op, op, [X[:, :0]], [(3, np.int64)], axis=1)
        bad(f"static-{op}", op, [X[:, :0]], [(3, np.int64)], "given", axis=1)
    empty("mean", "ReduceMean", [X[:, :0], ints(1)], [3])
    image = random((1, 2, 0, 3))
    for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        empty(op, op, [image], [4])
    for op in ("AveragePool", "MaxPool", "LpPool"):
        empty(op, op, [image], [4], kernel_shape=[2, 2], pads=[1, 1, 1, 1])
    # Of no rows, fewer than none would be left: (0 - 1) * 2 + 1.
    empty("conv-transpose", "ConvTranspose", [image, random((2, 1, 1, 3))], [4], auto_pad="SAME_UPPER", strides=[2, 2])


def add_unbounded():
    """Work without bound, which the run's own numbers ask for."""
    image, index = random((1, 1, 4, 4)), ints(0)
    far = np.array([[0, 0, 1e9, 1e9]], np.float32)
    bad("unbounded-roi", "RoiAlign", [image, far, index], [4], output_height=1, output_width=1)
    bad("unbounded-roi-ratio", "RoiAlign", [image, far, index], [4], output_height=1, output_width=1, sampling_ratio=2**30)
    bad("unbounded-range", "Range", [np.array(0), np.array(2**42), np.array(1)], [1], "given")
    bad("unbounded-one-hot", "OneHot", [ints(1, 2), np.array(2**42), X[0, 0, :2]], [(2, np.float32)])
    bad("unbounded-tile", "Tile", [X, ints(2**20, 2**20, 1)], [3], lists=[1])


def main():
    require_tools()
    for add in (add_indices, add_counts, add_division, add_shapes, add_empties, add_unbounded):
        add()
    tally = Tally()
    for title, options in (("", ()), ("checked ", ("--check-bounds",))):
        with tempfile.TemporaryDirectory() as folder:
            names, failures = run_all(pathlib.Path(folder), CASES, *options)
        for name in names:
            message = failures.get(name, "ran without an error")
            right = message.startswith("node 'node': ") and "buffer" not in message
            tally.expect(title + name, right, message)
    tally.finish()


if __name__ == "__main__":
    main()
