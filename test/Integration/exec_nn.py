#!/usr/bin/env -S /usr/bin/python3
"""Convolutions, poolings, normalizations, products and attention against plain loops, on models of one node.

Each case runs for operands of known and of open dimensions, and with weights as constants where
that takes another way through the compiler. Bad cases must end with an error that names the
node. Prints a line per failure, then the totals.
"""

import itertools

import numpy as np

from exec_tensor import Case, ints, run_all
from support.harness import judge_cases, require_tools
from support import nn_reference as reference

rng = np.random.default_rng(7)
CASES, BAD = {}, {}
F16, F32, F64 = np.float16, np.float32, np.float64


def random(*shape, kind=F32):
    kind = np.dtype(kind)
    if kind.kind == "f":
        return rng.uniform(-1, 1, shape).astype(kind)
    return rng.integers(0 if kind.kind == "u" else -9, 9, shape).astype(kind)


def case(name, op, operands, results, opset=22, **options):
    CASES[name] = Case(op, operands, results, opset=opset, **options)


def bad(name, op, operands, ranks, opset=22, forms="open", **options):
    results = [np.zeros((1,) * rank, operands[0].dtype) for rank in ranks]
    BAD[name] = Case(op, operands, results, only=forms.split(), opset=opset, **options)


def add_convolutions():
    ones, two = [1, 1, 1, 1], [2, 2]
    for name, x, w, attributes in (
        ("1d", (2, 3, 20), (4, 3, 3), dict(pads=[1, 2])),
        ("3d", (1, 4, 5, 6, 7), (6, 2, 2, 3, 2), dict(group=2, strides=[1, 2, 1], pads=[1, 0, 1, 0, 1, 1])),
        ("short", (1, 8, 10, 10), (16, 8, 3, 3), dict(pads=ones)),
        ("stride", (2, 8, 10, 10), (32, 4, 3, 3), dict(group=2, pads=ones, strides=two)),
        ("depthwise", (1, 8, 20, 20), (8, 1, 3, 3), dict(group=8, pads=ones)),
        ("multiplier", (1, 4, 20, 20), (8, 1, 5, 5), dict(group=4)),
        ("point", (2, 16, 7, 7), (24, 16, 1, 1), {}),
        ("point-wide", (1, 8, 40, 40), (4, 8, 1, 1), {}),
        ("point-stride", (1, 8, 40, 40), (32, 8, 1, 1), dict(strides=two)),
        ("dilated", (1, 3, 30, 30), (4, 3, 5, 5), dict(pads=[2, 2, 2, 2], dilations=[1, 2])),
        ("large", (1, 3, 40, 40), (4, 3, 11, 11), dict(strides=[4, 4])),
        ("upper", (1, 3, 17, 18), (4, 3, 3, 4), dict(auto_pad="SAME_UPPER", strides=[2, 3])),
        ("lower", (1, 3, 17, 18), (4, 3, 3, 4), dict(auto_pad="SAME_LOWER", strides=[2, 3], dilations=[2, 1])),
        ("valid", (1, 3, 17, 18), (4, 3, 3, 4), dict(auto_pad="VALID")),
        ("odd", (3, 5, 33, 31), (7, 5, 2, 3), dict(strides=[3, 1])),
        ("empty", (0, 3, 9, 9), (4, 3, 3, 3), {}),
        ("border", (1, 32, 13, 11), (40, 32, 3, 3), dict(pads=ones)),
        ("border-dilated", (2, 24, 15, 9), (17, 24, 3, 3), dict(pads=[2, 1, 1, 2], dilations=[2, 1], strides=[1, 2])),
        ("border-group", (1, 64, 7, 9), (20, 32, 3, 3), dict(group=2, pads=ones)),
        ("border-1d", (1, 32, 31), (9, 32, 5), dict(pads=[2, 2])),
        ("border-3d", (1, 24, 4, 5, 6), (8, 24, 3, 3, 3), dict(pads=[1] * 6)),
        ("columns", (1, 16, 24, 24), (100, 16, 1, 1), {}),
        ("rows", (1, 40, 3, 1), (70, 40, 3, 1), dict(pads=[1, 0, 1, 0])),
        # More weights than a cache holds: sums in blocks.
        ("deep", (1, 320, 7, 7), (40, 320, 3, 3), dict(pads=ones)),
        ("deep-stride", (2, 512, 9, 8), (33, 512, 3, 3), dict(pads=ones, strides=two)),
        ("deep-group", (1, 640, 5, 6), (96, 320, 3, 3), dict(pads=[0, 1, 1, 0], group=2)),
        ("deep-valid", (1, 480, 6, 9), (48, 480, 1, 6), {}),
    ):
        x, w, bias = random(*x), random(*w), random(w[0])
        case(f"conv-{name}", "Conv", [x, w, bias], [reference.conv(x, w, bias, **attributes)], lists=[1], **attributes)
    for kind in (F16, F64):
        x, w = random(1, 8, 20, 20, kind=kind), random(8, 8, 3, 3, kind=kind)
        case(f"conv-{np.dtype(kind).name}", "Conv", [x, w], [reference.conv(x, w, pads=ones)], pads=ones)
    for name, x, w, strides, dilations, group, pads, more in (
        ("2d", (1, 4, 5, 6), (4, 3, 3, 3), two, [1, 1], 1, ones, [1, 1]),
        ("group", (2, 6, 5, 6), (6, 2, 2, 2), two, [1, 1], 3, [0] * 4, [0, 0]),
        ("1d", (1, 3, 9), (3, 4, 4), [3], [2], 1, [2, 1], [0]),
        ("3d", (1, 2, 3, 4, 5), (2, 2, 2, 2, 3), [1, 2, 2], [1, 1, 1], 1, [0] * 6, [0, 0, 0]),
        ("wide", (1, 24, 20, 40), (24, 8, 2, 2), two, [1, 1], 1, [0] * 4, [0, 0]),
        ("overlap", (1, 24, 7, 5), (24, 6, 4, 4), two, [1, 1], 1, ones, [0, 0]),
        ("dilated", (1, 4, 6, 6), (4, 5, 3, 3), two, [2, 3], 1, [0] * 4, [1, 0]),
        ("holes", (1, 4, 5, 5), (4, 3, 1, 2), [2, 3], [1, 1], 1, [0] * 4, [0, 0]),
        ("crop", (1, 4, 6, 6), (4, 5, 3, 3), two, [1, 1], 1, [3, 2, 2, 3], [1, 1]),
    ):
        x, w, bias = random(*x), random(*w), random(w[1] * group)
        case(f"transposed-{name}", "ConvTranspose", [x, w, bias],
             [reference.conv_transpose(x, w, bias, strides, dilations, group, pads, more)], lists=[1],
             strides=strides, dilations=dilations, group=group, pads=pads, output_padding=more)
    x, pads = random(1, 4, 6, 6), [1, 0, 1, 0]
    w, offset, bias, mask = random(4, 2, 3, 2), 2 * random(1, 24, 6, 5), random(4), random(1, 12, 6, 5)
    case("deform", "DeformConv", [x, w, offset, bias, mask],
         [reference.deform_conv(x, w, offset, bias, mask, pads, 2, 2)], group=2, offset_group=2, pads=pads)
    w, offset = random(3, 4, 3, 2), 2 * random(1, 12, 6, 5)
    case("deform-plain", "DeformConv", [x, w, offset], [reference.deform_conv(x, w, offset, None, None, pads, 1, 1)], pads=pads)
    x = random(2, 12, 25)
    case("col2im", "Col2Im", [x, ints(5, 6), ints(2, 3)],
         [reference.col2im(x, [5, 6], [2, 3], [1, 1], [1, 1], [1, 1, 0, 0])], lists=[1, 2], pads=[1, 1, 0, 0])
    x = random(1, 4, 6, kind=np.int32)
    case("col2im-dilated", "Col2Im", [x, ints(9), ints(2)], [reference.col2im(x, [9], [2], [1], [3], [0, 0])],
         lists=[1, 2], dilations=[3])


def add_products():
    for (name, a, b), kind in itertools.product((
        ("plain", (5, 7), (7, 6)), ("unrolled", (5, 8), (8, 33)), ("broadcast", (2, 1, 3, 4), (5, 4, 6)),
        ("batch", (2, 3, 4), (2, 4, 5)), ("row", (4,), (4, 5)), ("column", (5, 4), (4,)), ("dot", (8,), (8,)),
        ("row-batch", (4,), (3, 4, 5)), ("batch-column", (3, 5, 4), (4,)), ("one-column", (6, 16), (16, 1)),
        ("no-rows", (0, 4), (4, 3)), ("no-sum", (3, 0), (0, 4)),
    ), (F32, np.int32)):
        x, y = random(*a, kind=kind), random(*b, kind=kind)
        case(f"matmul-{name}-{np.dtype(kind).name}", "MatMul", [x, y], [np.asarray(x @ y)], opset=13)
    for kind in (F16, F64, np.uint32, np.int64, np.uint64):
        x, y = random(2, 3, 4, kind=kind), random(4, 5, kind=kind)
        case(f"matmul-{np.dtype(kind).name}", "MatMul", [x, y], [(x.astype(F64) @ y).astype(kind)], opset=13)
    for name, a, b in (("2d", (20, 512), (512, 1024)), ("batch", (2, 20, 512), (2, 512, 1024)), ("deep", (100, 3072), (3072, 48)),
                       ("odd", (40, 3067), (3067, 40)), ("tall", (320, 2700), (2700, 130)), ("short", (49, 2048), (2048, 72))):
        x, y = random(*a), random(*b)
        case(f"matmul-blocks-{name}", "MatMul", [x, y], [x @ y], lists=[1], opset=13)
    for left, right, rows in itertools.product((0, 1), (0, 1), (1, 5)):
        x, y, z = random(rows, 64), random(64, 10), random(10)
        case(f"gemm-{left}{right}-{rows}", "Gemm", [x.T if left else x, y.T if right else y, z], [0.5 * x @ y + 2 * z],
             lists=[1], opset=13, transA=left, transB=right, alpha=0.5, beta=2.0)
    x, y, z = random(3, 4, kind=np.int32), random(4, 2, kind=np.int32), random(3, 1, kind=np.int32)
    case("gemm-int32", "Gemm", [x, y, z], [x @ y + z], opset=13)
    for equation, *shapes in (
        ("ij,jk->ik", (3, 4), (4, 5)), ("bij,bkj->bik", (2, 3, 4), (2, 5, 4)), ("ii->i", (4, 4)), ("ii", (4, 4)),
        ("...ij->...ji", (2, 3, 4)), ("i,j->ij", (3,), (4,)), ("ij,j,jk->ik", (2, 3), (3,), (3, 4)),
        ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)), ("ij->", (3, 4)), ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
    ):
        operands = [random(*shape) for shape in shapes]
        case("einsum-" + "".join(c if c.isalpha() else "_" for c in equation), "Einsum", operands,
             [np.asarray(np.einsum(equation, *operands))], opset=12, equation=equation)
    for name, x in (("one", random(3, 3)), ("batch", random(2, 4, 5, 5)), ("singular", np.ones((3, 3), F32)),
                    ("swap", np.array([[0, 1], [1, 0]], F32)), ("size-one", random(2, 1, 1)), ("double", random(2, 4, 4, kind=F64))):
        case(f"det-{name}", "Det", [x], [np.asarray(np.linalg.det(x)).astype(x.dtype)])


def add_poolings():
    for name, shape, kernel, strides, dilations, pads, ceil in (
        ("2d", (1, 2, 11, 12), [3, 3], [2, 2], [1, 1], [1, 1, 1, 1], 0),
        ("ceil", (2, 2, 11, 12), [3, 2], [2, 3], [1, 1], [1, 0, 0, 1], 1),
        ("1d", (1, 3, 20), [4], [3], [2], [1, 2], 1),
        ("3d", (1, 2, 6, 7, 8), [2, 3, 2], [1, 2, 2], [2, 1, 1], [0, 1, 0, 1, 1, 0], 0),
        ("large", (1, 2, 16, 20), [5, 5], [1, 1], [1, 1], [2, 2, 2, 2], 0),
        ("huge", (1, 1, 20, 24), [13, 13], [1, 1], [1, 1], [6, 6, 6, 6], 0),
    ):
        window = dict(kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads, ceil_mode=ceil)
        x = random(*shape)
        case(f"max-{name}", "MaxPool", [x], list(reference.pool(x, **window, mode="max")), **window)
        case(f"average-{name}", "AveragePool", [x], [reference.pool(x, **window, mode="average")[0]], **window)
        case(f"average-padded-{name}", "AveragePool", [x], [reference.pool(x, **window, mode="average", include=True)[0]],
             count_include_pad=1, **window)
        case(f"norm-{name}", "LpPool", [x], [reference.pool(x, **window, mode="norm", p=3)[0]], p=3, **window)
    window = dict(kernel_shape=[3, 2], strides=[2, 1], dilations=[1, 2], pads=[1, 1, 0, 1], ceil_mode=0)
    for kind in (np.int8, np.uint8, F16, F64):
        x = random(1, 2, 9, 9, kind=kind)
        case(f"max-{np.dtype(kind).name}", "MaxPool", [x], list(reference.pool(x, **window, mode="max")), **window)
    x = random(2, 3, 4, 5)
    case("global-norm", "GlobalLpPool", [x], [(np.abs(x) ** 3).sum((2, 3), keepdims=True) ** F32(1 / 3)], p=3)
    x, rois = random(2, 3, 12, 10), np.array([[0, 1, 2, 8, 9], [1, -3, 0, 20, 5], [1, 4, 4, 4, 4]], F32)
    case("max-roi", "MaxRoiPool", [x, rois], [reference.max_roi_pool(x, rois, [3, 2], 0.8)], pooled_shape=[3, 2], spatial_scale=0.8)


def add_normalizations():
    for kind in (F32, F16):
        x, scale, bias = random(2, 6, 3, 4, kind=kind), random(6, kind=kind), random(6, kind=kind)
        name = np.dtype(kind).name
        case(f"group-{name}", "GroupNormalization", [x, scale, bias], [reference.group_norm(x, 3, scale, bias)], opset=21, num_groups=3)
        case(f"instance-{name}", "InstanceNormalization", [x, scale, bias], [reference.group_norm(x, 6, scale, bias)])
        x, scale = random(2, 3, 8, kind=kind), random(8, kind=kind)
        wide = x.astype(F64)
        mean, spread = wide.mean(-1, keepdims=True), 1 / np.sqrt(wide.var(-1, keepdims=True) + 1e-5)
        case(f"layer-{name}", "LayerNormalization", [x, scale],
             [((wide - mean) * spread * scale).astype(kind), mean.astype(F32), spread.astype(F32)], opset=17)
        exponent = np.exp(wide)
        case(f"softmax-{name}", "Softmax", [x], [(exponent / exponent.sum(1, keepdims=True)).astype(kind)], opset=13, axis=1)
    for axis, shape in ((-1, (8,)), (1, (3, 8))):
        x, scale = random(2, 3, 8), random(*shape)
        mean = (x ** 2).mean(tuple(range(axis % 3, 3)), keepdims=True)
        case(f"rms-{axis}", "RMSNormalization", [x, scale], [x / np.sqrt(mean + F32(1e-5)) * scale], opset=23, axis=axis)
    x = np.concatenate([random(2, 3, 8), np.zeros((2, 1, 8), F32)], 1)
    for p in (1, 2):
        norm = (np.abs(x) ** p).sum(-1, keepdims=True) ** F32(1 / p)
        case(f"norm-by-{p}", "LpNormalization", [x], [np.divide(x, norm, where=norm != 0, out=np.zeros_like(x))], p=p)
    x = random(2, 5, 3, 3)
    for size in (3, 4):
        case(f"lrn-{size}", "LRN", [x], [reference.lrn(x, size, 0.01)], opset=13, size=size, alpha=0.01)
    x, one = random(7), lambda value: np.array([value], F32)
    case("batch-vector", "BatchNormalization", [x, one(2), one(0.5), one(0.1), one(0.7)],
         [(x - F32(0.1)) / np.sqrt(F32(0.7) + F32(1e-5)) * 2 + F32(0.5)], opset=15)


def add_attention():
    def flat(x):
        return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)

    q, k, v = random(2, 4, 5, 8), random(2, 4, 6, 8), random(2, 4, 6, 10)
    case("attention", "Attention", [q, k, v], [reference.attention(q, k, v)[0]], opset=23)
    seen = rng.random((2, 1, 5, 6)) > 0.3
    seen[..., 0] = True
    for name, mask in (("added", random(4, 5, 6)), ("seen", seen)):
        case(f"attention-{name}", "Attention", [q, k, v, mask], [reference.attention(q, k, v, mask)[0]], opset=23)
    past = random(2, 4, 3, 8), random(2, 4, 3, 10)
    y, keys, values, scores = reference.attention(q, k, v, causal=True, past=past, softcap=2.0)
    for mode in range(4):
        case(f"attention-past-{mode}", "Attention", [q, k, v, None, *past], [y, keys, values, scores[mode].astype(F32)],
             opset=23, is_causal=1, softcap=2.0, qk_matmul_output_mode=mode)
    k, v = random(2, 2, 6, 8), random(2, 2, 6, 10)
    case("attention-groups", "Attention", [q, k, v], [reference.attention(q, k, v)[0]], opset=23)
    case("attention-flat", "Attention", [flat(q), flat(k), flat(v)], [flat(reference.attention(q, k, v, scale=0.3)[0])],
         opset=23, q_num_heads=4, kv_num_heads=2, scale=0.3)
    x = random(2, 3, 5, 8)
    for interleaved, count in itertools.product((0, 1), (4, 8)):
        cosine, sine, ids = random(50, count // 2), random(50, count // 2), rng.integers(0, 50, (2, 5))
        y = reference.rotate(x, cosine[ids][:, None], sine[ids][:, None], interleaved, count)
        options = dict(opset=23, interleaved=interleaved, rotary_embedding_dim=count % 8)
        case(f"rotary-{interleaved}-{count}", "RotaryEmbedding", [x, cosine, sine, ids], [y], **options)
        case(f"rotary-flat-{interleaved}-{count}", "RotaryEmbedding", [flat(x), cosine[ids], sine[ids]], [flat(y)],
             num_heads=3, **options)


def add_bad():
    x = random(1, 3, 5, 5)
    bad("conv-channels", "Conv", [x, random(4, 2, 3, 3)], [4])
    bad("conv-window", "Conv", [x, random(4, 3, 7, 3)], [4])
    bad("conv-bias", "Conv", [x, random(4, 3, 3, 3), random(5)], [4])
    bad("pool-window", "MaxPool", [x], [4], kernel_shape=[6, 2])
    bad("matmul-sum", "MatMul", [random(2, 3), random(4, 5)], [2], opset=13)
    bad("matmul-batch", "MatMul", [random(2, 3, 4), random(3, 4, 5)], [3], opset=13)
    bad("gemm-sum", "Gemm", [random(2, 3), random(4, 5)], [2], opset=13)
    bad("einsum-sizes", "Einsum", [random(2, 3), random(4, 5)], [2], opset=12, equation="ij,jk->ik")
    bad("det-square", "Det", [random(2, 3)], [0])
    bad("unpool-index", "MaxUnpool", [random(1, 1, 1, 1), np.full((1, 1, 1, 1), 4)], [4], forms="given open", kernel_shape=[2, 2])
    bad("loss-class", "NegativeLogLikelihoodLoss", [random(2, 3), ints(0, 3)], [0], forms="given open")
    bad("roi-batch", "RoiAlign", [x, np.ones((1, 4), F32), ints(1)], [4], forms="given open", output_height=2, output_width=2)
    bad("max-roi-batch", "MaxRoiPool", [x, np.array([[-1, 0, 0, 1, 1]], F32)], [4], forms="given open", pooled_shape=[1, 1])
    bad("col2im-columns", "Col2Im", [random(1, 4, 5), ints(3, 3), ints(2, 2)], [4], forms="flexible", lists=[1, 2])
    bad("rotary-position", "RotaryEmbedding", [random(1, 1, 1, 4), random(3, 2), random(3, 2), np.array([[3]])], [4],
        opset=23, forms="given open")


def main():
    require_tools()
    for add in (add_convolutions, add_products, add_poolings, add_normalizations, add_attention, add_bad):
        add()
    judge_cases(run_all, CASES, BAD, "--check-bounds", "--rtol", "3e-3", "--atol", "2e-3")


if __name__ == "__main__":
    main()
