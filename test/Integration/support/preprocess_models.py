"""Small models for the preprocessing suite, one behaviour each, and what must be left of them."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

TYPES = {
    np.dtype("float16"): TensorProto.FLOAT16, np.dtype("float32"): TensorProto.FLOAT,
    np.dtype("float64"): TensorProto.DOUBLE, np.dtype("int64"): TensorProto.INT64,
}


class Case:
    """A model under construction: `node` adds a node and gives its output's name, `weight` an initializer."""

    def __init__(self, name, ops=None, names=None, options=(), opset=13, kind="float32"):
        self.name, self.ops, self.names, self.options, self.opset = name, ops, names, options, opset
        self.kind = np.dtype(kind)
        self.rng = np.random.default_rng(sum(name.encode()))
        self.nodes, self.weights, self.inputs, self.shapes = [], [], {}, {}
        self.batched, self.prefix = None, ""

    def input(self, name, shape, dims=None):
        """An input of random values; `dims` gives other dimensions in the model, such as names."""
        self.inputs[name] = self.rng.uniform(-2, 2, shape).astype(self.kind)
        self.shapes[name] = list(dims or shape)
        return name

    def weight(self, array, name=None, kind=None):
        array = np.asarray(array)
        if array.dtype.kind == "f":
            array = array.astype(kind or self.kind)
        name = name or f"{self.prefix}w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def random(self, *shape, name=None, low=-1.0, high=1.0):
        return self.weight(self.rng.uniform(low, high, shape), name)

    def node(self, op, *inputs, out=None, name=None, outputs=1, **attributes):
        count = len(self.nodes)
        names = [out or f"{self.prefix}t{count}"] + [f"{self.prefix}t{count}_{i}" for i in range(1, outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=name or f"{op}_{count}", **attributes))
        return names[0]

    def finish(self, *outputs):
        """Ends the model; each output is a name, or (name, type)."""
        infos = []
        for output in outputs:
            name, kind = output if isinstance(output, tuple) else (output, TYPES[self.kind])
            infos.append(helper.make_tensor_value_info(name, kind, None))
        graph = helper.make_graph(
            self.nodes, self.name,
            [helper.make_tensor_value_info(n, TYPES[a.dtype], self.shapes[n]) for n, a in self.inputs.items()],
            infos, self.weights)
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        return self

    def batch_norm(self, x, channels, name=None):
        return self.node(
            "BatchNormalization", x, self.random(channels, low=0.5, high=2), self.random(channels),
            self.random(channels), self.random(channels, low=0.5, high=2), name=name)


def batch_norms():
    for kind in ("float16", "float32"):
        case = Case(f"bn_after_conv_{kind}", "Conv", "conv", kind=kind)
        x = case.input("x", (1, 3, 8, 8), ["N", 3, 8, 8])
        conv = case.node("Conv", x, case.random(4, 3, 3, 3), case.random(4), pads=[1, 1, 1, 1], name="conv")
        yield case.finish(case.batch_norm(conv, 4))
    case = Case("bn_after_group_conv_1d", "Conv")
    conv = case.node("Conv", case.input("x", (2, 4, 9)), case.random(6, 2, 3), group=2)
    yield case.finish(case.batch_norm(conv, 6))
    case = Case("bn_after_conv_transpose", "ConvTranspose")
    conv = case.node("ConvTranspose", case.input("x", (1, 4, 5, 5)), case.random(4, 3, 3, 3), group=2, strides=[2, 2])
    yield case.finish(case.batch_norm(conv, 6))
    for trans in (0, 1):
        case = Case(f"bn_after_gemm_{trans}", "Gemm", "fc")
        shape = (5, 7) if trans else (7, 5)
        y = case.node("Gemm", case.input("x", (3, 7)), case.random(*shape), case.random(1, 5), alpha=0.5, beta=2.0,
                      transB=trans, name="fc")
        yield case.finish(case.batch_norm(y, 5))
    case = Case("bn_after_gemm_float64", "Gemm", kind="float64")
    y = case.node("Gemm", case.input("x", (3, 7)), case.random(7, 5))
    yield case.finish(case.batch_norm(y, 5))
    case = Case("bn_after_shared_conv", "BatchNormalization Conv Relu")
    conv = case.node("Conv", case.input("x", (1, 3, 8, 8)), case.random(4, 3, 3, 3))
    yield case.finish(case.batch_norm(conv, 4), case.node("Relu", conv))
    case = Case("bn_after_convs_of_one_weight", "Conv Conv")
    x, w = case.input("x", (1, 3, 8, 8)), case.random(4, 3, 3, 3)
    yield case.finish(*(case.batch_norm(case.node("Conv", x, w), 4) for _ in range(2)))
    case = Case("bn_before_conv", "Conv")
    x = case.batch_norm(case.input("x", (1, 4, 8, 8)), 4)
    yield case.finish(case.node("Conv", x, case.random(6, 2, 3, 3), group=2))
    case = Case("bn_before_padded_conv", "BatchNormalization Conv")
    x = case.batch_norm(case.input("x", (1, 4, 8, 8)), 4)
    yield case.finish(case.node("Conv", x, case.random(6, 4, 3, 3), pads=[1, 1, 1, 1]))
    case = Case("bn_before_gemm", "Gemm")
    x = case.batch_norm(case.input("x", (3, 4)), 4)
    yield case.finish(case.node("Gemm", x, case.random(4, 6), case.random(6), alpha=0.5))


def no_ops():
    case = Case("no_ops", "Relu")
    x = case.node("Identity", case.input("x", (2, 6), ["N", 6]))
    x = case.node("Flatten", case.node("Dropout", x))
    x = case.node("Reshape", x, case.weight(np.array([-1, 6])))
    x = case.node("Transpose", case.node("Transpose", x, perm=[1, 0]), perm=[1, 0])
    x = case.node("Pad", case.node("Cast", x, to=1), case.weight(np.zeros(4, np.int64)))
    yield case.finish(case.node("Identity", case.node("Relu", x), out="y"))
    case = Case("identity_from_input_to_output", "Identity")
    yield case.finish(case.node("Identity", case.input("x", (2, 3)), out="y"))
    case = Case("two_names_for_one_output", "Identity Relu")
    y = case.node("Relu", case.input("x", (2, 3)), out="a")
    yield case.finish(y, case.node("Identity", y, out="b"))


def constants():
    case = Case("constant_weights", "Add")
    x = case.input("x", (2, 3, 4))
    w = case.node("Mul", case.node("Transpose", case.random(4, 3), perm=[1, 0]), case.weight(2.0))
    yield case.finish(case.node("Add", x, w))
    case = Case("shapes", "Reshape")
    x = case.input("x", (2, 3, 4))
    rows = case.node("Gather", case.node("Shape", x), case.weight(np.array([0])))
    shape = case.node("Concat", rows, case.weight(np.array([-1])), axis=0)
    yield case.finish(case.node("Reshape", x, shape))
    case = Case("large_expand", "Add Expand", options=["--max-constant-bytes", "100"])
    x = case.input("x", (50, 40))
    wide = case.node("Expand", case.random(1, 40), case.weight(np.array([50, 40])))
    yield case.finish(case.node("Add", x, wide))
    case = Case("same_initializers", "Add Add")
    x = case.node("Add", case.input("x", (2, 3)), case.weight(np.ones(3)))
    yield case.finish(case.node("Add", x, case.weight(np.ones(3))))


def biases():
    case = Case("conv_mul_add", "Conv", "conv")
    y = case.node("Conv", case.input("x", (1, 3, 8, 8), ["N", 3, "H", "W"]), case.random(4, 3, 3, 3), name="conv")
    y = case.node("Mul", y, case.random(1, 4, 1, 1))
    y = case.node("Div", y, case.weight(0.3))
    yield case.finish(case.node("Sub", case.node("Add", y, case.random(4, 1, 1)), case.weight(0.7)))
    case = Case("constant_minus_conv_transpose", "ConvTranspose")
    y = case.node("ConvTranspose", case.input("x", (1, 4, 5)), case.random(4, 3, 4), case.random(6), group=2,
                  strides=[3], output_padding=[2])
    yield case.finish(case.node("Sub", case.random(1, 6, 1), y))
    case = Case("gemm_add_float64", "Gemm", kind="float64")
    y = case.node("Gemm", case.input("x", (3, 7)), case.random(7, 5), case.random(5), beta=0.5)
    yield case.finish(case.node("Mul", case.node("Add", y, case.random(1, 5)), case.random(5)))
    case = Case("conv_add_per_column", "Add Conv")
    y = case.node("Conv", case.input("x", (1, 3, 4, 4)), case.random(4, 3, 1, 1))
    yield case.finish(case.node("Add", y, case.random(4)))
    case = Case("conv_read_twice", "Add Conv Mul")
    y = case.node("Conv", case.input("x", (1, 3, 4, 4)), case.random(4, 3, 1, 1))
    yield case.finish(case.node("Add", y, case.weight(1.0)), case.node("Mul", y, case.weight(3.0)))
    case = Case("division", "Mul")
    yield case.finish(case.node("Div", case.input("x", (3, 5)), case.random(5, low=1, high=9)))


def products():
    case = Case("matmul_add", "Gemm", "mm")
    y = case.node("MatMul", case.input("x", (3, 7), ["N", 7]), case.random(7, 5), name="mm")
    yield case.finish(case.node("Add", case.random(5), y))
    case = Case("matmul_add_of_rank_3", "Add MatMul")
    y = case.node("MatMul", case.input("x", (2, 3, 7)), case.random(7, 5))
    yield case.finish(case.node("Add", y, case.random(5)))
    case = Case("gemm_of_transposes", "Gemm")
    a, b = case.input("a", (7, 3)), case.input("b", (5, 7))
    yield case.finish(case.node("Gemm", case.node("Transpose", a, perm=[1, 0]), case.node("Transpose", b),
                                case.random(3, 5)))
    case = Case("flattened_gemm", "Add MatMul", "fc")
    x = case.input("x", (2, 3, 7), ["N", 3, 7])
    y = case.node("Reshape", x, case.weight(np.array([-1, 7])))
    y = case.node("Gemm", y, case.random(5, 7), case.random(5), transB=1, name="fc")
    yield case.finish(case.node("Reshape", y, case.weight(np.array([-1, 3, 5]))))


def pads():
    sides = np.array([0, 0, 1, 2, 0, 0, 1, 0])
    case = Case("pad_conv", "Conv")
    x = case.node("Pad", case.input("x", (1, 3, 8, 8), ["N", 3, "H", "W"]), case.weight(sides))
    yield case.finish(case.node("Conv", x, case.random(4, 3, 3, 3), pads=[0, 1, 1, 1], strides=[2, 2]))
    case = Case("pad_average", "AveragePool")
    x = case.node("Pad", case.input("x", (1, 3, 8, 8)), case.weight(sides))
    yield case.finish(case.node("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2]))
    case = Case("pad_average_counted", "AveragePool")
    x = case.node("Pad", case.input("x", (1, 3, 8, 8)), case.weight(sides // 2))
    yield case.finish(case.node("AveragePool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1))
    for name, value in (("lowest", -3.4028234663852886e38), ("infinite", -np.inf)):
        case = Case(f"pad_max_{name}", "MaxPool")
        x = case.node("Pad", case.input("x", (1, 3, 8, 8)), case.weight(sides), case.weight(value))
        yield case.finish(case.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2]))
    case = Case("pad_max_zero", "MaxPool Pad")
    x = case.node("Pad", case.input("x", (1, 3, 8, 8)), case.weight(sides))
    yield case.finish(case.node("MaxPool", x, kernel_shape=[3, 3]))
    case = Case("pad_max_zero_after_relu", "MaxPool Relu")
    x = case.node("Pad", case.node("Relu", case.input("x", (1, 3, 8, 8))), case.weight(sides))
    yield case.finish(case.node("MaxPool", x, kernel_shape=[3, 3]))


def hard_swish(case, x):
    y = case.node("Clip", case.node("Add", x, case.weight(3.0)), case.weight(0.0), case.weight(6.0))
    return case.node("Div", case.node("Mul", x, y), case.weight(6.0))


def gelu(case, x):
    y = case.node("Erf", case.node("Div", x, case.weight(np.sqrt(2))))
    return case.node("Mul", case.node("Mul", x, case.node("Add", y, case.weight(1.0))), case.weight(0.5))


def tanh_gelu(case, x):
    cube = case.node("Mul", case.node("Pow", x, case.weight(3.0)), case.weight(0.044715))
    y = case.node("Tanh", case.node("Mul", case.node("Add", x, cube), case.weight(np.sqrt(2 / np.pi))))
    return case.node("Mul", case.node("Mul", case.weight(0.5), x), case.node("Add", y, case.weight(1.0)))


def layer_norm(case, x, size):
    centered = case.node("Sub", x, case.node("ReduceMean", x, axes=[-1]))
    variance = case.node("ReduceMean", case.node("Pow", centered, case.weight(2.0)), axes=[-1])
    y = case.node("Div", centered, case.node("Sqrt", case.node("Add", variance, case.weight(1e-5))))
    return case.node("Add", case.node("Mul", y, case.random(size)), case.random(size))


def mish(case, x):
    y = case.node("Log", case.node("Add", case.node("Exp", x), case.weight(1.0)))
    return case.node("Mul", x, case.node("Tanh", y))


def swish(case, x):
    return case.node("Div", x, case.node("Add", case.weight(1.0), case.node("Exp", case.node("Neg", x))))


def activations():
    for name, ops, make in (
        ("hard_swish", "HardSwish", hard_swish), ("gelu", "Gelu", gelu), ("tanh_gelu", "Gelu", tanh_gelu),
        ("layer_norm", "LayerNormalization", lambda case, x: layer_norm(case, x, 8)),
        ("mish", "Mish", mish), ("swish", "Mul Sigmoid", swish),
    ):
        for kind in ("float32", "float16"):
            case = Case(f"{name}_{kind}", ops, kind=kind, options=["--max-opset", "20"])
            yield case.finish(make(case, case.input("x", (3, 8), ["N", 8])))
    # A newer operator doesn't raise the opset by itself: it is spelt out, and found again.
    norm = "Add Add Div Mul Pow ReduceMean ReduceMean Sqrt Sub"
    for name, ops, make in (
        ("hard_swish", "HardSigmoid Mul", hard_swish), ("gelu", "Add Div Erf Mul Mul", gelu),
        ("tanh_gelu", "Add Add Mul Mul Mul Mul Pow Tanh", tanh_gelu),
        ("layer_norm", norm, lambda case, x: layer_norm(case, x, 8)), ("mish", "Mul Softplus Tanh", mish),
    ):
        for kind in ("float32", "float16"):
            # A normalization of narrow floats computes in float32.
            case = Case(f"{name}_spelt_out_{kind}", f"Cast Cast {ops}" if ops is norm and kind == "float16" else ops, kind=kind, opset=11)
            yield case.finish(make(case, case.input("x", (3, 8), ["N", 8])))
    old = ["--max-opset", "13"]
    case = Case("hard_swish_of_old_opset", "HardSigmoid Mul", options=old)
    yield case.finish(hard_swish(case, case.input("x", (3, 8))))
    case = Case("gelu_of_old_opset", "Add Erf Mul Mul Mul", options=old)
    yield case.finish(gelu(case, case.input("x", (3, 8))))
    case = Case("hard_sigmoid", "HardSigmoid")
    y = case.node("Add", case.node("Mul", case.input("x", (3, 8)), case.weight(0.2)), case.weight(0.5))
    yield case.finish(case.node("Clip", y, case.weight(0.0), case.weight(1.0)))
    case = Case("relu6_of_a_sum", "Add Clip")
    y = case.node("Add", case.input("x", (3, 8)), case.weight(3.0))
    yield case.finish(case.node("Clip", y, case.weight(0.0), case.weight(6.0)))


def subgraphs():
    """A convolution and its normalization inside a branch."""
    inner = Case("branch")
    inner.prefix = "inner_"
    conv = inner.node("Conv", "x", inner.random(4, 3, 1, 1), name="inner_conv")
    y = inner.batch_norm(conv, 4)
    output = [helper.make_tensor_value_info(y, TensorProto.FLOAT, None)]
    taken = helper.make_graph(inner.nodes, "taken", [], output, inner.weights)
    other = helper.make_graph([helper.make_node("Conv", ["x", "w0"], ["o"], name="other")], "other", [],
                              [helper.make_tensor_value_info("o", TensorProto.FLOAT, None)])
    case = Case("conv_in_a_branch", "Greater If ReduceSum")
    case.input("x", (1, 3, 4, 4))
    case.random(4, 3, 1, 1)
    total = case.node("ReduceSum", "x", case.weight(np.array([0, 1, 2, 3])), keepdims=0)
    choice = case.node("Greater", total, case.weight(-1e9))
    yield case.finish(case.node("If", choice, then_branch=taken, else_branch=other))


def batches():
    case = Case("dynamic_batch", "Conv Reshape Softmax", options=["--batch", "N"])
    y = case.node("Conv", case.input("x", (1, 3, 4, 4)), case.random(6, 3, 1, 1))
    y = case.node("Reshape", y, case.weight(np.array([1, 6, -1])))
    case = case.finish(case.node("Softmax", y, axis=1))
    # Three samples at once, where the original has to be asked three times.
    case.batched = {"x": np.random.default_rng(5).uniform(-2, 2, (3, 3, 4, 4)).astype(np.float32)}
    yield case


def cases():
    groups = (batch_norms, no_ops, constants, biases, products, pads, activations, subgraphs, batches)
    for group in groups:
        yield from group()
