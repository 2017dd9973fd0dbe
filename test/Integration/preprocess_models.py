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

    def input(self, name, shape, dims=None):
        """An input of random values; `dims` gives other dimensions in the model, such as names."""
        self.inputs[name] = self.rng.uniform(-2, 2, shape).astype(self.kind)
        self.shapes[name] = list(dims or shape)
        return name

    def weight(self, array, name=None, kind=None):
        array = np.asarray(array)
        if array.dtype.kind == "f":
            array = array.astype(kind or self.kind)
        name = name or f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def random(self, *shape, name=None, low=-1.0, high=1.0):
        return self.weight(self.rng.uniform(low, high, shape), name)

    def node(self, op, *inputs, out=None, name=None, outputs=1, **attributes):
        count = len(self.nodes)
        names = [out or f"t{count}"] + [f"t{count}_{i}" for i in range(1, outputs)]
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


def cases():
    for group in (batch_norms, no_ops, constants):
        yield from group()
