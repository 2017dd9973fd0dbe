#!/usr/bin/env -S /usr/bin/python3
"""Tensor ops against numpy and plain loops, on models of one node.

Each case runs with its lists (axes, sizes, indices) as constants, for data of known and of open
dimensions, then with lists given at run time for both (element types but one: the first and the last
of these), and where `ranked` says so with the lengths
of the lists open as well: the results' ranks are given then. Bad cases must end with an error
that names the node. Prints a line per failure, then the totals.
"""

import functools
import itertools
import re
import subprocess

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.mapping import NP_TYPE_TO_TENSOR_TYPE

from support.harness import ONNXQ, judge_cases, require_tools
from support import tensor_reference as reference

rng = np.random.default_rng(7)
FLOATS = [np.float32, np.float64, np.float16]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
CASES, BAD = {}, {}


def ints(*values):
    return np.array(values, np.int64)


def random(shape, kind=np.float32):
    kind = np.dtype(kind)
    if kind == bool:
        return rng.integers(0, 2, shape).astype(bool)
    if kind.kind == "f":
        return rng.standard_normal(shape).astype(kind)
    limits = np.iinfo(kind)
    return rng.integers(max(limits.min, -1000), min(limits.max, 1000), shape).astype(kind)


class Case:
    def __init__(self, op, operands, results, lists=(), ranked=False, only=None, opset=20, **attributes):
        self.op, self.operands, self.results, self.lists = op, operands, results, lists
        self.opset, self.attributes = opset, attributes
        self.forms = only or ["constant", "flexible"] * bool(lists) + ["given", "open"] + ["ranked"] * ranked

    def write(self, folder, form):
        inputs, constants, names, arrays = [], [], [], []
        for index, array in enumerate(self.operands):
            names.append("" if array is None else f"x{index}")
            if array is None:
                continue
            if form in ("constant", "flexible") and index in self.lists:
                constants.append(numpy_helper.from_array(array, names[-1]))
                continue
            is_open = form == "ranked" or (form in ("flexible", "open") and index not in self.lists)
            dims = [f"d{index}_{k}" if is_open else size for k, size in enumerate(array.shape)]
            inputs.append(helper.make_tensor_value_info(names[-1], NP_TYPE_TO_TENSOR_TYPE[array.dtype], dims))
            arrays.append(array)
        outputs = []
        for index, array in enumerate(self.results):
            dims = [f"y{index}_{k}" for k in range(array.ndim)] if form == "ranked" else None
            outputs.append(helper.make_tensor_value_info(f"y{index}", NP_TYPE_TO_TENSOR_TYPE[array.dtype], dims))
        node = helper.make_node(self.op, names, [value.name for value in outputs], name="node", **self.attributes)
        graph = helper.make_graph([node], "case", inputs, outputs, constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        onnx.save(model, str(folder / "model.onnx"))
        for kind, values in (("input", arrays), ("output", self.results)):
            for index, array in enumerate(values):
                array = np.ascontiguousarray(array) if array.ndim else array
                (data / f"{kind}_{index}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


def add_case(name, op, operands, results, short=False, **options):
    if short:
        options["only"] = ["constant" if options.get("lists") else "given", "open"]
    CASES[name] = Case(op, operands, results, **options)


case = add_case


def bad(name, op, operands, ranks, forms, **options):
    results = [np.zeros((1,) * rank, operands[0].dtype) for rank in ranks]
    BAD[name] = Case(op, operands, results, only=forms.split(), **options)


def scatter(data, indices, updates, combine):
    result = data.copy()
    with np.errstate(all="ignore"):
        for place in np.ndindex(indices.shape):
            target = (place[0], indices[place], *place[2:])
            result[target] = combine(result[target], updates[place])
    return result


def add_types():
    """Every element type through every way of moving elements."""
    for kind in FLOATS + INTEGERS + [np.bool_]:
        # How a form reads its lists doesn't depend on the elements: one type goes through all forms.
        case = functools.partial(add_case, short=kind != np.float32)
        x, name = random((2, 3, 4), kind), np.dtype(kind).name
        more, one = random((2, 1, 4), kind), np.array(1, kind)
        wide, some = rng.integers(-3, 3, (2, 5, 4)), rng.integers(-3, 3, (2, 2, 3)).astype(np.int32)
        updates, keep = random((2, 5, 4), kind), np.array([1, 0, 1], bool)
        case(f"transpose-{name}", "Transpose", [x], [x.transpose(1, 2, 0)], perm=[1, 2, 0])
        case(f"concat-{name}", "Concat", [x, more], [np.concatenate([x, more], 1)], axis=1)
        case(f"gather-{name}", "Gather", [x, ints(1, -1, 0)], [x[:, [1, -1, 0]]], lists=[1], axis=1)
        case(f"slice-{name}", "Slice", [x, ints(-1, 0), ints(-100, 100), ints(2, 1), ints(-2, 2)],
             [x[:, 0::2, -1::-2]], lists=[1, 2, 3, 4])
        case(f"pad-{name}", "Pad", [x, ints(0, 1, 2, 1, 0, -1), one],
             [np.pad(x, [(0, 1), (1, 0), (2, 0)], constant_values=1)[:, :, :-1]], lists=[1, 2])
        case(f"tile-{name}", "Tile", [x, ints(2, 1, 3)], [np.tile(x, (2, 1, 3))], lists=[1])
        case(f"expand-{name}", "Expand", [more, ints(5, 1, 3, 4)], [np.broadcast_to(more, (5, 2, 3, 4))], lists=[1])
        case(f"trilu-{name}", "Trilu", [x, np.array(-1)], [np.tril(x, -1)], lists=[1], upper=0)
        case(f"compress-{name}", "Compress", [x, keep], [np.compress(keep, x, 1)], axis=1)
        case(f"unsqueeze-{name}", "Unsqueeze", [x, ints(-1, 0)], [x[None, ..., None]], lists=[1])
        case(f"gather-elements-{name}", "GatherElements", [x, some],
             [np.take_along_axis(x[:, :, :3], some.astype(np.int64) % 3, 1)], lists=[1], axis=1)
        case(f"scatter-elements-{name}", "ScatterElements", [x, wide, updates],
             [scatter(x, wide, updates, lambda old, new: new)], lists=[1], axis=1)
        case(f"scatter-nd-{name}", "ScatterND", [x, np.array([[1], [0]]), x[::-1]], [x], lists=[1])
        case(f"reverse-{name}", "ReverseSequence", [x, ints(2, 3)], [np.stack([x[0][[1, 0, 2]], x[1, ::-1]])],
             batch_axis=0, time_axis=1)
        case(f"one-hot-{name}", "OneHot", [ints(1, -1, 7), np.array(3), np.array([1, 0], kind)],
             [np.array([[1, 0, 1], [1, 1, 0], [1, 1, 1]], kind)], lists=[1])
        if kind == np.bool_:
            continue
        for reduction, combine in (("add", np.add), ("mul", np.multiply), ("max", max), ("min", min)):
            case(f"scatter-{reduction}-{name}", "ScatterElements", [x, wide, updates],
                 [scatter(x, wide, updates, combine)], lists=[1], axis=1, reduction=reduction)


def add_layout():
    x, top, low = random((2, 3, 4)), 2**63 - 1, -(2**63)
    case("reshape", "Reshape", [x, ints(0, -1, 2)], [x.reshape(2, 6, 2)], lists=[1], ranked=True)
    case("reshape-flat", "Reshape", [x, ints(24)], [x.reshape(24)], lists=[1], ranked=True)
    case("reshape-empty", "Reshape", [x[:0], ints(3, 0)], [np.zeros((3, 0), np.float32)], lists=[1], allowzero=1)
    case("reshape-scalar", "Reshape", [x[:1, 0, 0], ints()], [x[0, 0, 0]], lists=[1], ranked=True)
    case("squeeze", "Squeeze", [x[:, None], ints(1)], [x], lists=[1], ranked=True)
    case("squeeze-all", "Squeeze", [x[:, None]], [x], only=["given", "ranked"])
    case("unsqueeze", "Unsqueeze", [x, ints(1, 3)], [x[:, None, :, None]], lists=[1], ranked=True)
    for axis in range(4):
        case(f"flatten-{axis}", "Flatten", [x], [x.reshape(np.prod(x.shape[:axis], dtype=int), -1)], axis=axis)
    case("shape", "Shape", [x], [ints(3, 4)], start=1)
    case("shape-none", "Shape", [x], [ints()], start=2, end=1)
    case("size", "Size", [x], [np.array(24)])
    case("split", "Split", [x, ints(1, 0, 3)], [x[..., :1], x[..., 1:1], x[..., 1:]], lists=[1], ranked=True, axis=-1)
    case("split-end", "Split", [x, ints(4, 0)], [x, x[..., 4:]], lists=[1], ranked=True, axis=-1)
    case("split-even", "Split", [x.reshape(8, 3)[:7]], np.split(x.reshape(8, 3)[:7], [3, 6]), num_outputs=3)
    case("concat-empty", "Concat", [x, x[:, :0], x, x[:, :0]], [np.concatenate([x, x], 1)], axis=1)
    case("expand-less", "Expand", [x, ints(1, 1)], [x], lists=[1], ranked=True)
    case("expand-more", "Expand", [x[:, :1], ints(3, 4)], [np.broadcast_to(x[:, :1], (2, 3, 4))], lists=[1], ranked=True)
    case("tile-none", "Tile", [x, ints(2, 0, 3)], [np.tile(x, (2, 0, 3))], lists=[1])
    case("slice", "Slice", [x, ints(1), ints(top), ints(-2)], [x[:, 1:]], lists=[1, 2, 3], ranked=True)
    case("slice-front", "Slice", [x, ints(0), ints(2), ints(2)], [x[:, :, :2]], lists=[1, 2, 3], ranked=True)
    case("slice-back", "Slice", [x, ints(top), ints(low), ints(1), ints(-1)], [x[:, ::-1]], lists=[1, 2, 3, 4], ranked=True)
    case("slice-far", "Slice", [x, ints(0), ints(9), ints(1), ints(top)], [x[:, :1]], lists=[1, 2, 3, 4], ranked=True)
    case("slice-far-back", "Slice", [x, ints(-1), ints(-9), ints(1), ints(low)], [x[:, 2:]], lists=[1, 2, 3, 4])
    case("slice-none", "Slice", [x, ints(3), ints(1)], [x[3:1]], lists=[1, 2], ranked=True)
    z = random((2, 8, 3, 5))
    for mode, split, order in (("DCR", (2, 2, 2, 2, 3, 5), (0, 3, 4, 1, 5, 2)), ("CRD", (2, 2, 2, 2, 3, 5), (0, 1, 4, 2, 5, 3))):
        y = z.reshape(split).transpose(order).reshape(2, 2, 6, 10)
        case(f"depth-to-space-{mode}", "DepthToSpace", [z], [y], blocksize=2, mode=mode)
        if mode == "DCR":
            case("space-to-depth", "SpaceToDepth", [y], [z], blocksize=2)


def add_padding():
    x = random((2, 3, 4))
    for mode in ("constant", "edge", "reflect"):
        for index, pads in enumerate(([(1, 2), (0, 0), (5, 7)], [(0, 0), (2, 1), (0, 3)])):
            counts = ints(*(before for before, _ in pads), *(after for _, after in pads))
            case(f"pad-{mode}-{index}", "Pad", [x, counts], [np.pad(x, pads, mode=mode)], lists=[1], ranked=True, mode=mode)
        case(f"pad-axes-{mode}", "Pad", [x, ints(2, 1, 0, 3), None, ints(-1, 0)],
             [np.pad(x, [(1, 3), (0, 0), (2, 0)], mode=mode)], lists=[1, 3], ranked=True, mode=mode)
        case(f"pad-cut-{mode}", "Pad", [x, ints(0, 0, -1, 0, 0, 2)],
             [np.pad(x[:, :, 1:], [(0, 0), (0, 0), (0, 2)], mode=mode)], lists=[1], mode=mode)
    case("pad-wrap", "Pad", [x, ints(1, 0, 5, 3, 0, 7)], [x[np.arange(-1, 5) % 2][:, :, np.arange(-5, 11) % 4]],
         lists=[1], ranked=True, mode="wrap")
    case("pad-cut-all", "Pad", [x, ints(0, 0, -5, 0, 0, 4)], [np.zeros((2, 3, 3), np.float32)], lists=[1])
    for name, shape, axes in (("all", (3, 2, 9), (0, 1, 2)), ("some", (1, 7), (2, 1))):
        case(f"crop-pad-{name}", "CenterCropPad", [x, ints(*shape)], [reference.center_crop_pad(x, shape, axes)],
             lists=[1], axes=axes)


def add_indexing():
    x, u = random((2, 3, 4)), random((3, 4))
    pairs = np.array([[0, 1], [1, -1], [0, 1]])
    case("gather-scalar", "Gather", [x, np.array(-2, np.int32)], [x[:, :, -2]], lists=[1], axis=2)
    case("gather-matrix", "Gather", [x, np.array([[0, 1], [2, -1]])], [x[:, [[0, 1], [2, -1]]]], lists=[1], ranked=True, axis=1)
    case("gather-nd", "GatherND", [x, pairs], [x[pairs[:, 0], pairs[:, 1]]], lists=[1], ranked=True)
    case("gather-nd-batch", "GatherND", [x, np.array([[[0], [2]], [[-1], [1]]])],
         [np.stack([x[0][[0, 2]], x[1][[-1, 1]]])], lists=[1], ranked=True, batch_dims=1)
    y = x.copy()
    np.add.at(y, (pairs[:, 0], pairs[:, 1]), u)
    case("scatter-nd-add", "ScatterND", [x, pairs, u], [y], lists=[1], ranked=True, reduction="add")
    keep = np.array([1, 0, 1, 1, 0], bool)
    case("compress-flat", "Compress", [x, keep], [np.compress(keep, x.ravel())])
    case("compress-none", "Compress", [x, keep[:0]], [x[:, :0]], axis=1)
    case("one-hot-float", "OneHot", [np.array([0, 2], np.float32), np.array([3], np.float32), np.array([0, 1], np.float32)],
         [np.eye(3, dtype=np.float32)[[0, 2]]], only=["given", "open"])


def resize(name, x, scales=None, sizes=None, roi=None, short=False, **attributes):
    operands = [x, roi if roi is None else np.array(roi, np.float32), scales if scales is None else np.array(scales, np.float32),
                sizes if sizes is None else ints(*sizes)]
    result = reference.resize(x, scales, sizes, roi, **attributes)
    case(f"resize-{name}", "Resize", operands, [result], lists=[1, 2, 3], opset=19, short=short, **attributes)


def add_resizes():
    x = random((1, 2, 5, 7))
    transforms = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric")
    for transform, mode in itertools.product(transforms, ("nearest", "linear", "cubic")):
        name, common = f"{mode}-{transform}", {"mode": mode, "coordinate_transformation_mode": transform}
        rounding = {"nearest_mode": "floor"} if mode == "nearest" and transform != "asymmetric" else {}
        resize(f"{name}-up", x, sizes=(9, 10), axes=[2, 3], **common, **rounding)
        resize(f"{name}-down", x, scales=(1, 1, 0.6, 0.45), **common)
        if mode != "nearest":
            resize(f"{name}-antialias", x, scales=(1, 1, 0.6, 0.3), antialias=1, **common)
            resize(f"{name}-antialias-inside", x, sizes=(3, 2), axes=[3, 2], antialias=1, exclude_outside=1, **common)
            resize(f"{name}-inside", x, scales=(1.7, 1.3), axes=[-2, -1], exclude_outside=1, cubic_coeff_a=-0.5, **common)
    for rounding, transform in itertools.product(
            ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil"), ("half_pixel", "asymmetric")):
        for factors in ((1, 1, 2, 3), (1, 1, 1.5, 0.5)):
            resize(f"nearest-{rounding}-{transform}-{factors[2]}", x, scales=factors, nearest_mode=rounding,
                   coordinate_transformation_mode=transform)
    for policy, mode in itertools.product(("not_larger", "not_smaller"), ("nearest", "linear")):
        resize(f"{policy}-{mode}", x, sizes=(8, 9), axes=[2, 3], mode=mode, keep_aspect_ratio_policy=policy)
    crop = {"coordinate_transformation_mode": "tf_crop_and_resize"}
    for mode in ("nearest", "linear", "cubic"):
        resize(f"crop-{mode}", x, sizes=(1, 2, 4, 4), roi=(0, 0, 0.2, -0.1, 1, 1, 0.7, 1.2), mode=mode,
               extrapolation_value=7.0, **crop)
        resize(f"crop-scales-{mode}", x, scales=(1.5, 2), axes=[2, 3], roi=(0.1, -0.2, 0.8, 1.1), mode=mode,
               extrapolation_value=-3.0, **crop)
    for kind in FLOATS + INTEGERS:
        y, name = random((1, 1, 4, 4), kind), np.dtype(kind).name
        resize(f"nearest-{name}", y, scales=(1, 1, 2, 2.5), coordinate_transformation_mode="asymmetric", nearest_mode="floor",
               short=True)
        resize(f"linear-{name}", y, scales=(1, 1, 2, 2), mode="linear", short=True)
    volume = random((1, 1, 3, 4, 5))
    resize("volume-linear", volume, scales=(1, 1, 2, 1.5, 0.7), mode="linear")
    resize("volume-cubic", volume, sizes=(1, 1, 5, 2, 8), mode="cubic")
    resize("antialias-far", random((1, 1, 40)), sizes=(5,), axes=[2], mode="cubic", antialias=1)


def add_grids():
    for mode, padding, corners in itertools.product(("linear", "nearest", "cubic"), ("zeros", "border", "reflection"), (0, 1)):
        attributes = {"mode": mode, "padding_mode": padding, "align_corners": corners}
        for x, places in ((random((2, 2, 4, 5)), (2, 3, 4)), (random((1, 2, 3, 4, 2)), (1, 2, 2, 3))):
            grid = rng.uniform(-1.7, 1.7, (*places, x.ndim - 2)).astype(np.float32)
            case(f"grid-{x.ndim}-{mode}-{padding}-{corners}", "GridSample", [x, grid],
                 [reference.grid_sample(x, grid, **attributes)], **attributes)
    for kind in (np.float16, np.float64, np.uint8):
        x, grid = random((1, 1, 4, 5), kind), rng.uniform(-1.2, 1.2, (1, 2, 2, 2)).astype(np.float32)
        case(f"grid-{np.dtype(kind).name}", "GridSample", [x, grid],
             [reference.grid_sample(x, grid, "nearest", "zeros", 0)], mode="nearest")
    for corners in (0, 1):
        for theta, size in ((random((2, 2, 3)), (2, 3, 4, 5)), (random((1, 3, 4), np.float64), (1, 3, 4, 5, 6))):
            case(f"affine-{len(size)}-{corners}", "AffineGrid", [theta, ints(*size)],
                 [reference.affine_grid(theta, size, corners)], lists=[1], align_corners=corners)
    columns, pool, weights = [0, 2, 1, 3, 5, 4, 6], [2, 3, 5, 4, 5, 6, 7, 8, 6, 7], [0.5, 2.0, 3.0, 1.0, 0.25, 4.0, 5.0]
    for mode, x in itertools.product(("TF", "IDF", "TFIDF"), (np.array([1, 3, 3, 7, 8, 6, 7, 5, 6, 8], np.int32),
                                                             rng.integers(2, 9, (3, 7)))):
        case(f"ngrams-{mode}-{x.ndim}", "TfIdfVectorizer", [x],
             [reference.tf_idf(x, mode, 1, 2, 3, [0, 4], columns, pool, weights)], mode=mode, min_gram_length=1,
             max_gram_length=2, max_skip_count=3, ngram_counts=[0, 4], ngram_indexes=columns, pool_int64s=pool, weights=weights)


def add_bad():
    x, everywhere = random((2, 3, 4)), "given open ranked"
    bad("reshape-elements", "Reshape", [x, ints(5, -1)], [2], "open ranked", lists=[1])
    bad("reshape-open", "Reshape", [x, ints(-1, -1)], [2], "open ranked", lists=[1])
    bad("squeeze", "Squeeze", [x, ints(1)], [2], "open ranked", lists=[1])
    bad("split", "Split", [x, ints(1, 4)], [3, 3], "open", lists=[1], axis=-1)
    bad("concat", "Concat", [x, random((3, 3, 4))], [3], "open", axis=1)
    bad("slice-step", "Slice", [x, ints(0), ints(1), ints(0), ints(0)], [3], everywhere, lists=[1, 2, 3, 4])
    bad("slice-axis", "Slice", [x, ints(0), ints(1), ints(5)], [3], "open ranked", lists=[1, 2, 3])
    bad("gather", "Gather", [x, ints(3)], [3], "given open", axis=1)
    bad("gather-elements", "GatherElements", [x, np.zeros((3, 3, 4), np.int64)], [3], "open", axis=1)
    bad("gather-nd", "GatherND", [x, np.array([[0, 1], [2, 0]])], [2], everywhere, lists=[1])
    bad("scatter-elements", "ScatterElements", [x, np.full((1, 1, 1), -4), x[:1, :1, :1]], [3], "given open", axis=1)
    bad("scatter-nd", "ScatterND", [x, np.array([[0, 3]]), x[:1, 0]], [3], everywhere)
    bad("compress", "Compress", [x, np.array([0, 0, 0, 1], bool)], [3], "given open", axis=1)
    bad("tile", "Tile", [x, ints(2, -1, 3)], [3], "given open", lists=[1])
    bad("expand", "Expand", [x, ints(2, 4)], [3], "open ranked", lists=[1])
    bad("one-hot", "OneHot", [x[0, 0], np.array(-3), x[0, 0, :2]], [2], "given open")
    bad("reverse", "ReverseSequence", [x, ints(2, 5)], [3], "given open", batch_axis=0, time_axis=1)
    bad("depth-to-space", "DepthToSpace", [random((1, 7, 2, 2))], [4], "open", blocksize=2)
    bad("pad", "Pad", [x, ints(0, 0, -5, 0, 0, 0)], [3], "given open", lists=[1])
    bad("resize", "Resize", [x, None, np.array([1, -1, 1], np.float32), None], [3], "given open", lists=[2], opset=19)


def run_all(folder, cases, *options):
    names = []
    for name, entry in cases.items():
        for form in entry.forms:
            names.append(f"{name}-{form}")
            entry.write(folder / names[-1], form)
    command = [ONNXQ, "test", str(folder), "--filter", ".", *options]
    output = subprocess.run(command, capture_output=True, text=True)
    problems = dict(re.findall(r"^(?:FAIL|SKIP) ([^:\n]+): (.*)$", output.stdout, re.M))
    totals = re.search(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", output.stdout, re.M)
    if not totals or sum(map(int, totals.groups())) != len(names):
        problems = {name: f"onnxq test ended with status {output.returncode}: {output.stderr[:200]}" for name in names}
    return names, problems


def main():
    require_tools()
    for add in (add_types, add_layout, add_padding, add_indexing, add_resizes, add_grids, add_bad):
        add()
    # Coordinates are 32-bit floats there and 64-bit floats here.
    judge_cases(run_all, CASES, BAD, "--check-bounds", "--rtol", "2e-3", "--atol", "3e-4")


if __name__ == "__main__":
    main()
