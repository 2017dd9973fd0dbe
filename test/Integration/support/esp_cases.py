"""One float model with a node or a few for every operator that ESP-DL runs, and for the forms that its attributes allow.

Each case has inputs of its own, so that one file, one calibration and one compilation serve them all.
"""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSET = 20


class Cases:
    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.inputs, self.outputs, self.constants, self.whole = [], {}, [], [], set()
        # Outputs by case; how near to float they are at least, in dB with 8 bits.
        self.names, self.nearness, self.wide = {}, {}, {}
        self.case = ""

    def begin(self, case, near=20.0, wide=True):
        """The next case; `near` in dB, None where outputs aren't real; `wide`: also with 16 bits."""
        self.case = case
        self.nearness[case], self.wide[case], self.names[case] = near, wide, []

    def x(self, *shape, low=-1.0, high=1.0):
        name = f"{self.case}_x{sum(n.startswith(self.case + '_x') for n in self.inputs)}"
        self.inputs[name] = (list(shape), low, high)
        return name

    def indices(self, *shape, low=0, high):
        """An input of integers below `high`."""
        name = self.x(*shape, low=low, high=high)
        self.whole.add(name)
        return name

    def c(self, array):
        name = f"{self.case}_c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def w(self, *shape, scale=None):
        array = self.rng.standard_normal(shape).astype(np.float32)
        return self.c(array * np.float32(scale or 1 / np.sqrt(max(np.prod(shape[1:]), 1))))

    def ints(self, *values):
        return self.c(np.array(values, np.int64))

    def op(self, op, *inputs, outputs=1, name=None, result=None, **attributes):
        names = [result] if result else [f"{self.case}_t{len(self.nodes)}_{i}" for i in range(outputs)]
        name = f"{self.case}_{op}{len(self.nodes)}" if name is None else name
        self.nodes.append(helper.make_node(op, list(inputs), names, name=name, **attributes))
        return names[0] if outputs == 1 else names

    def y(self, *names):
        self.names[self.case] += names
        self.outputs += names

    def image(self, channels=16, height=6, width=9):
        """A tensor that lies with its channels last on the chip."""
        return self.op("Conv", self.x(1, 5, height, width), self.w(channels, 5, 1, 1), self.w(channels))

    def model(self):
        kind = lambda name: TensorProto.INT64 if name in self.whole else TensorProto.FLOAT
        inputs = [helper.make_tensor_value_info(n, kind(n), s) for n, (s, _, _) in self.inputs.items()]
        outputs = [helper.make_empty_tensor_value_info(n) for n in self.outputs]
        graph = helper.make_graph(self.nodes, "cases", inputs, outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)

    def sample(self, rng):
        return {n: rng.integers(low, high, s) if n in self.whole else rng.uniform(low, high, s).astype(np.float32)
                for n, (s, low, high) in self.inputs.items()}


def products(c):
    c.begin("conv")
    c.y(c.op("Conv", c.x(1, 33, 9, 7), c.w(20, 33, 3, 3), c.w(20), strides=[2, 1], pads=[1, 0, 2, 1]))
    c.begin("conv_relu")
    c.y(c.op("Relu", c.op("Conv", c.x(1, 16, 6, 5), c.w(32, 16, 1, 1), c.w(32))))
    c.begin("conv_dilated")
    c.y(c.op("Conv", c.x(1, 8, 11, 10), c.w(17, 8, 3, 2), dilations=[2, 3]))
    for mode in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        c.begin("conv_" + mode.lower())
        c.y(c.op("Conv", c.x(1, 4, 8, 7), c.w(6, 4, 4, 3), c.w(6), auto_pad=mode, strides=[2, 2]))
    c.begin("depthwise")
    c.y(c.op("Conv", c.x(1, 30, 8, 7), c.w(30, 1, 5, 5), c.w(30), group=30, strides=[2, 1], pads=[2, 2, 1, 1]))
    c.begin("depthwise_dilated")
    c.y(c.op("Relu", c.op("Conv", c.x(1, 32, 9, 8), c.w(32, 1, 3, 3), group=32, dilations=[2, 2])))
    c.begin("conv1d")
    c.y(c.op("Conv", c.x(1, 10, 23), c.w(24, 10, 3), c.w(24), strides=[2], pads=[1, 2], dilations=[2]))
    c.begin("depthwise1d")
    c.y(c.op("Conv", c.x(1, 19, 12), c.w(19, 1, 4), c.w(19), group=19, pads=[3, 0]))
    c.begin("transposed")
    c.y(c.op("ConvTranspose", c.x(1, 6, 5, 4), c.w(6, 18, 3, 3, scale=0.2), c.w(18), strides=[2, 2], pads=[1, 1, 1, 1],
             output_padding=[1, 1]))
    c.begin("transposed_plain")
    c.y(c.op("Relu", c.op("ConvTranspose", c.x(1, 7, 5, 4), c.w(7, 16, 2, 3, scale=0.2), pads=[0, 1, 1, 0])))
    c.begin("transposed1d")
    c.y(c.op("ConvTranspose", c.x(1, 9, 11), c.w(9, 5, 4, scale=0.2), c.w(5), strides=[3]))
    c.begin("transposed_dilated")
    c.y(c.op("ConvTranspose", c.x(1, 4, 6, 5), c.w(4, 6, 3, 2, scale=0.3), dilations=[2, 1], strides=[1, 3]))
    c.begin("gemm")
    c.y(c.op("Gemm", c.x(1, 31), c.w(31, 35, scale=0.2), c.w(35)))
    c.begin("gemm_transposed")
    c.y(c.op("Relu", c.op("Gemm", c.x(1, 64), c.w(32, 64), c.w(32), transB=1)))
    c.begin("gemm_plain")
    c.y(c.op("Gemm", c.x(3, 12), c.w(12, 16, scale=0.3)))
    for name, left, right in (
        ("matrix", (1, 3, 10), (10, 35)), ("batched", (2, 5, 10), (2, 10, 19)), ("broadcast", (1, 4, 6, 10), (3, 1, 10, 32)),
        ("vector", (1, 10), (10,)),
    ):
        c.begin("matmul_weight_" + name)
        c.y(c.op("MatMul", c.x(*left), c.w(*right, scale=0.3)))
    for name, left, right in (
        ("matrix", (1, 32, 10), (1, 10, 35)), ("wide", (1, 7, 10), (1, 10, 16)), ("broadcast", (1, 5, 3, 10), (1, 1, 10, 41)),
        ("vector", (1, 10), (1, 10, 32)),
    ):
        c.begin("matmul_" + name)
        c.y(c.op("MatMul", c.x(*left), c.x(*right)))
    c.begin("matmul_relu")
    c.y(c.op("Relu", c.op("MatMul", c.x(1, 5, 10), c.x(1, 10, 20))))
    c.begin("attention")
    q, k = c.op("MatMul", c.x(1, 6, 8), c.w(8, 8)), c.op("MatMul", c.x(1, 6, 8), c.w(8, 8))
    c.y(c.op("MatMul", q, c.op("Transpose", k, perm=[0, 2, 1])))


def arithmetic(c):
    shapes = {
        "same": ((1, 6, 5, 4), (1, 6, 5, 4)), "last": ((1, 6, 5, 4), (1, 6, 5, 1)), "first": ((1, 6, 5, 1), (1, 6, 5, 4)),
        "vector": ((2, 3, 4, 5), (5,)), "scalar": ((8, 2, 5), (1,)), "both": ((1, 1, 4, 5), (2, 3, 1, 1)),
    }
    for op in ("Add", "Sub", "Mul", "Div"):
        for name, (a, b) in list(shapes.items())[:: 1 if op in ("Add", "Mul") else 3]:
            c.begin(f"{op.lower()}_{name}", 18)
            c.y(c.op(op, c.x(*a), c.x(*b, low=0.5)))
        c.begin(f"{op.lower()}_channels", 18)
        c.y(c.op(op, c.image(), c.c(c.rng.uniform(0.5, 1, (16, 1, 1)).astype(np.float32))))
        c.begin(f"{op.lower()}_number", 18)
        c.y(c.op(op, c.c(np.float32(0.7)), c.x(1, 9, low=0.5 if op == "Div" else -1.0)))
        c.begin(f"{op.lower()}_images", 15)
        right = c.op("Sigmoid", c.image()) if op == "Div" else c.image()
        c.y(c.op("Relu", c.op(op, c.image(), right)))
        c.begin(f"{op.lower()}_mixed", 15)
        c.y(c.op(op, c.image(16, 6, 9), c.x(1, 16, 1, 1, low=0.5)))
        c.begin(f"{op.lower()}_lower_rank", 15)
        c.y(c.op(op, c.image(16, 6, 9), c.x(6, 9, low=0.5)))
    c.begin("mod", 12)
    c.y(c.op("Mod", c.x(1, 20, high=2), c.c(np.array([0.75], np.float32)), fmod=1))
    c.begin("pow", 15)
    c.y(c.op("Pow", c.x(1, 20, low=0.1), c.c(np.array([2.0], np.float32))))
    for op in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"):
        c.begin(op.lower(), None)
        c.y(c.op(op, c.x(1, 4, 5, 16), c.x(1, 4, 5, 1, high=0.5)))
    c.begin("greater_number", None)
    c.y(c.op("Greater", c.x(1, 4, 5), c.c(np.array([0.25], np.float32))))


def windows(c):
    for op in ("AveragePool", "MaxPool"):
        counted = {"count_include_pad": 1} if op == "AveragePool" else {}
        c.begin(op.lower())
        c.y(c.op(op, c.x(1, 17, 8, 7), kernel_shape=[2, 3], strides=[1, 2]))
        c.begin(op.lower() + "_padded")
        c.y(c.op(op, c.x(1, 16, 7, 8), kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2], **counted))
        c.begin(op.lower() + "1d")
        c.y(c.op(op, c.x(1, 6, 13), kernel_shape=[4], strides=[3]))
    c.begin("maxpool_ceiling")
    c.y(c.op("MaxPool", c.x(1, 5, 8, 10), kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1))
    c.begin("global_average")
    c.y(c.op("GlobalAveragePool", c.x(1, 51, 3, 5)))
    c.begin("global_average1d")
    c.y(c.op("GlobalAveragePool", c.x(1, 9, 7)))
    positive = ("ReduceLogSum", "ReduceProd", "ReduceMean", "ReduceL2")
    for op in ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"):
        op = "Reduce" + op
        low = 0.5 if op in positive else -1.0
        c.begin(op.lower(), 15)
        c.y(c.op(op, c.x(1, 6, 5, 4, low=low), c.ints(2, 3), keepdims=0))
        c.begin(op.lower() + "_kept", 15)
        c.y(c.op(op, c.x(2, 3, 5, low=low), c.ints(-2)))
        if op not in ("ReduceSum", "ReduceMax", "ReduceL2"):
            continue
        c.begin(op.lower() + "_image", 15)
        c.y(c.op(op, c.op("Sigmoid", c.image(6, 4, 5)), c.ints(1), keepdims=1))
        c.begin(op.lower() + "_image_dropped", 15)
        c.y(c.op(op, c.op("Sigmoid", c.image(6, 4, 5)), c.ints(1, 3), keepdims=0))
    c.begin("reducesum_all", 15)
    c.y(c.op("ReduceSum", c.x(1, 4, 5)))
    scales = {"scales": lambda: ("", c.c(np.array([1, 1, 2, 3], np.float32))), "sizes": lambda: ("", "", c.ints(1, 8, 7, 11))}
    for name, given in scales.items():
        c.begin("resize_nearest_" + name, wide=False)
        c.y(c.op("Resize", c.x(1, 8, 4, 5), *given(), mode="nearest", coordinate_transformation_mode="asymmetric",
                 nearest_mode="floor"))
        for place in ("half_pixel", "align_corners"):
            c.begin(f"resize_{place}_{name}", wide=False)
            c.y(c.op("Resize", c.image(8, 4, 5), *given(), mode="linear", coordinate_transformation_mode=place))
    c.begin("resize_smaller", wide=False)
    c.y(c.op("Resize", c.x(1, 8, 9, 12), "", "", c.ints(1, 8, 4, 5), mode="linear"))
    c.begin("resize1d", wide=False)
    c.y(c.op("Resize", c.x(1, 8, 6), "", c.c(np.array([1, 1, 2], np.float32)), mode="nearest",
             coordinate_transformation_mode="asymmetric", nearest_mode="floor"))
    for mode in ("DCR", "CRD"):
        c.begin("depth_to_space_" + mode.lower())
        c.y(c.op("DepthToSpace", c.x(1, 12, 5, 3), blocksize=2, mode=mode))
    c.begin("space_to_depth")
    c.y(c.op("SpaceToDepth", c.image(3, 6, 9), blocksize=3))


def functions(c):
    for op, low, high, attributes in (
        ("Relu", -1, 1, {}), ("LeakyRelu", -1, 1, {"alpha": 0.1}), ("Sigmoid", -6, 6, {}), ("Tanh", -3, 3, {}),
        ("HardSigmoid", -4, 4, {"alpha": 0.25, "beta": 0.4}), ("HardSigmoid", -4, 4, {}), ("HardSwish", -4, 4, {}),
        ("Elu", -3, 3, {"alpha": 0.3}), ("Gelu", -3, 3, {}), ("Gelu", -3, 3, {"approximate": "tanh"}), ("Exp", -2, 1, {}),
        ("Log", 0.2, 4, {}), ("Sqrt", 0.1, 4, {}), ("Neg", -1, 1, {}), ("Abs", -1, 1, {}),
    ):
        c.begin(f"{op.lower()}{len(attributes)}" + str(attributes.get("approximate", "")), 15)
        c.y(c.op(op, c.x(1, 5, 4, 3, low=low, high=high), **attributes))
    c.begin("swish", 15)
    x = c.image(16, 4, 5)
    c.y(c.op("Mul", x, c.op("Sigmoid", x)))
    f = lambda value: c.c(np.float32(value))
    for name, bounds in (("both", (f(-0.5), f(0.75))), ("low", (f(0),)), ("high", ("", f(0.6)))):
        c.begin("clip_" + name)
        c.y(c.op("Clip", c.x(1, 100), *bounds))
    c.begin("relu6")
    c.y(c.op("Clip", c.op("Conv", c.x(1, 3, 6, 5, low=-8, high=8), c.w(9, 3, 3, 3), c.w(9)), f(0), f(6)))
    c.begin("prelu")
    c.y(c.op("PRelu", c.x(1, 20, 4, 5), c.c(np.array([[[0.3]]], np.float32))))
    c.begin("prelu_channels")
    c.y(c.op("PRelu", c.image(12, 4, 5), c.c(c.rng.uniform(0.1, 0.9, (12, 1, 1)).astype(np.float32))))
    for axis in (1, -1):
        c.begin(f"softmax{axis}")
        c.y(c.op("Softmax", c.x(1, 5, 7, low=-3, high=3), axis=axis))
        c.begin(f"logsoftmax{axis}")
        c.y(c.op("LogSoftmax", c.x(1, 5, 7, low=-3, high=3), axis=axis))
    c.begin("softmax_image", 15)
    c.y(c.op("Softmax", c.image(6, 4, 5), axis=1))
    c.begin("layernorm", 15)
    c.y(c.op("LayerNormalization", c.x(1, 6, 16), c.w(16, scale=1), c.w(16, scale=1), axis=-1, epsilon=1e-5))
    c.begin("layernorm_plain", 15)
    c.y(c.op("LayerNormalization", c.x(1, 6, 16), c.w(16, scale=1)))
    for p, axis in ((1, 1), (2, -1)):
        c.begin(f"lpnorm{p}", 15)
        c.y(c.op("LpNormalization", c.x(1, 6, 5), p=p, axis=axis))
    c.begin("lpnorm_image", 15)
    c.y(c.op("LpNormalization", c.image(6, 4, 5), p=2, axis=1))


def recurrent(c):
    for direction, count in (("forward", 1), ("bidirectional", 2)):
        c.begin("gru_" + direction, 15)
        w, r, b = c.w(count, 24, 6, scale=0.4), c.w(count, 24, 8, scale=0.4), c.w(count, 48, scale=0.3)
        c.y(*c.op("GRU", c.x(5, 1, 6), w, r, b, outputs=2, hidden_size=8, direction=direction, linear_before_reset=1))
        c.begin("lstm_" + direction, 15)
        w, r, b = c.w(count, 32, 6, scale=0.4), c.w(count, 32, 8, scale=0.4), c.w(count, 64, scale=0.3)
        c.y(*c.op("LSTM", c.x(5, 1, 6), w, r, b, outputs=3, hidden_size=8, direction=direction))
        c.begin("gru_long_" + direction, 15)
        w, r = c.w(count, 24, 6, scale=0.4), c.w(count, 24, 8, scale=0.4)
        c.y(*c.op("GRU", c.x(20, 1, 6), w, r, outputs=2, hidden_size=8, direction=direction, linear_before_reset=1))
    c.begin("lstm_states", 15)
    w, r = c.w(1, 32, 6, scale=0.4), c.w(1, 32, 8, scale=0.4)
    c.y(*c.op("LSTM", c.x(4, 1, 6), w, r, "", "", c.x(1, 1, 8, low=-0.5, high=0.5), c.x(1, 1, 8), outputs=3, hidden_size=8))
    c.begin("gru_last", 15)
    w, r = c.w(1, 24, 6, scale=0.4), c.w(1, 24, 8, scale=0.4)
    _, last = c.op("GRU", c.x(4, 1, 6), w, r, outputs=2, hidden_size=8, linear_before_reset=1)
    c.nodes[-1].output[0] = ""
    c.y(last)
    c.begin("gru_state", 15)
    w, r = c.w(1, 24, 6, scale=0.4), c.w(1, 24, 8, scale=0.4)
    c.y(*c.op("GRU", c.x(4, 1, 6), w, r, "", "", c.w(1, 1, 8, scale=0.3), outputs=2, hidden_size=8, linear_before_reset=1))


def moves(c):
    for name, shapes, axis in (
        ("channels", ((1, 8, 4, 3), (1, 5, 4, 3)), 1), ("rows", ((1, 5, 4, 3), (1, 5, 2, 3)), 2),
        ("columns", ((1, 5, 4), (1, 5, 2), (1, 5, 7)), -1),
    ):
        c.begin("concat_" + name)
        c.y(c.op("Concat", *(c.x(*shape) for shape in shapes), axis=axis))
    c.begin("concat_images")
    c.y(c.op("Concat", c.image(8, 4, 5), c.image(6, 4, 5), axis=1))
    c.begin("concat_mixed")
    c.y(c.op("Concat", c.image(8, 4, 5), c.x(1, 3, 4, 5), axis=1))
    c.begin("concat_constant")
    c.y(c.op("Concat", c.image(8, 4, 5), c.w(1, 2, 4, 5), axis=-3))
    c.begin("split_sizes")
    c.y(*c.op("Split", c.x(1, 10, 2, 5), c.ints(3, 4, 3), outputs=3, axis=1))
    c.begin("split_even")
    c.y(*c.op("Split", c.image(8, 4, 5), outputs=2, axis=1, num_outputs=2))
    c.begin("slice")
    c.y(c.op("Slice", c.x(1, 10, 11), c.ints(0, 1, 1), c.ints(1, 9, -1), c.ints(0, 1, 2), c.ints(1, 3, 2)))
    c.begin("slice_back")
    c.y(c.op("Slice", c.x(1, 8, 5), c.ints(-1, 3), c.ints(-(2**31), 0), c.ints(1, 2), c.ints(-1, -2)))
    c.begin("slice_image")
    c.y(c.op("Slice", c.image(8, 6, 5), c.ints(2), c.ints(7), c.ints(1)))
    c.begin("pad_constant")
    c.y(c.op("Pad", c.x(9, 10), c.ints(1, 0, 5, 5), c.c(np.float32(0.5)), mode="constant"))
    for mode in ("edge", "reflect"):
        c.begin("pad_" + mode)
        c.y(c.op("Pad", c.x(2, 5, 9), c.ints(0, 1, 2, 0, 3, 4), mode=mode))
    c.begin("pad_image")
    c.y(c.op("Pad", c.image(6, 4, 5), c.ints(0, 0, 1, 1, 0, 0, 2, 0)))
    c.begin("pad_five")
    c.y(c.op("Pad", c.x(2, 2, 3, 4, 5), c.ints(1, 1, 1, 1, 1, 0, 0, 1, 1, 2), c.c(np.float32(1)), mode="constant"))
    for name, indices, axis in (("rows", [[0, 1, 1], [1, 2, 2]], 1), ("last", [-1, 0], -1), ("one", 2, 1)):
        c.begin("gather_" + name)
        c.y(c.op("Gather", c.x(2, 3, 4), c.c(np.array(indices, np.int64)), axis=axis))
    c.begin("transpose")
    c.y(c.op("Transpose", c.x(1, 5, 7), perm=[2, 0, 1]))
    c.begin("transpose_back")
    c.y(c.op("Transpose", c.image(6, 4, 5)))
    for axis in (0, 2, -1):
        c.begin(f"flatten{axis}")
        c.y(c.op("Flatten", c.x(1, 4, 3, 5), axis=axis))
    c.begin("flatten_image")
    c.y(c.op("Gemm", c.op("Flatten", c.image(6, 4, 5)), c.w(9, 120), c.w(9), transB=1))
    c.begin("reshape")
    c.y(c.op("Reshape", c.image(6, 4, 5), c.ints(0, -1, 4)))
    c.begin("squeeze")
    c.y(c.op("Squeeze", c.x(1, 10, 1, 2), c.ints(2)))
    c.begin("squeeze_all")
    c.y(c.op("Squeeze", c.x(1, 2, 1, 4)))
    c.begin("unsqueeze")
    c.y(c.op("Unsqueeze", c.x(1, 10, 2), c.ints(0, -1)))
    c.begin("reverse_sequence")
    c.y(c.op("ReverseSequence", c.x(4, 3, 5), c.ints(4, 2, 1), batch_axis=1, time_axis=0))
    c.begin("scatter")
    c.y(c.op("ScatterND", c.x(4, 5), c.c(np.array([[0], [2]], np.int64)), c.x(2, 5)))


def forms(c):
    """What models have that weren't made for ESP-DL: other rules that come to its own, names that writers of nodes take."""
    c.begin("names")
    x = c.op("Conv", c.x(1, 3, 6, 5), c.w(8, 3, 3, 3), c.w(8), name="Conv_0", result="a")
    turned = c.op("Transpose", x, perm=[0, 2, 3, 1], name="Transpose_0", result="a_transpose_0")
    rows = c.op("Reshape", turned, c.ints(1, -1, 4), name="Reshape_0", result="reshaped_0")
    c.y(c.op("MatMul", rows, c.op("Transpose", rows, perm=[0, 2, 1], name="Transpose_0"), name=""))
    c.begin("matmul_constant_left")
    c.y(c.op("MatMul", c.w(4, 10), c.x(1, 10, 6)))
    c.begin("gemm_factors")
    c.y(c.op("Gemm", c.x(12, 2), c.w(12, 16, scale=0.3), c.w(16), transA=1, alpha=0.5, beta=2.0))
    c.begin("transposed_depthwise")
    c.y(c.op("ConvTranspose", c.x(1, 18, 5, 4), c.w(18, 1, 3, 3), c.w(18), group=18, strides=[2, 2], pads=[1, 1, 1, 1],
             output_padding=[1, 1]))
    c.begin("transposed_same")
    c.y(c.op("ConvTranspose", c.x(1, 6, 5, 4), c.w(6, 7, 3, 3, scale=0.2), strides=[2, 2], auto_pad="SAME_UPPER"))
    c.begin("transposed_size")
    c.y(c.op("ConvTranspose", c.x(1, 6, 5, 4), c.w(6, 7, 3, 3, scale=0.2), strides=[2, 2], output_shape=[10, 9]))
    c.begin("maxpool_same")
    c.y(c.op("MaxPool", c.image(8, 5, 6), kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER"))
    c.begin("averagepool_same")
    c.y(c.op("AveragePool", c.image(8, 5, 6), kernel_shape=[2, 2], strides=[2, 2], auto_pad="SAME_LOWER", count_include_pad=1))
    c.begin("resize_torch", wide=False)
    c.y(c.op("Resize", c.image(8, 4, 5), "", c.c(np.array([1, 1, 2, 2], np.float32)), mode="linear",
             coordinate_transformation_mode="pytorch_half_pixel"))
    c.begin("resize_nearest_half", wide=False)
    c.y(c.op("Resize", c.image(8, 4, 5), "", c.c(np.array([1, 1, 3, 2], np.float32)), mode="nearest",
             coordinate_transformation_mode="half_pixel", nearest_mode="round_prefer_floor"))
    for name, kind in (("scales", np.float32), ("sizes", np.int64)):
        c.begin("resize_axes_" + name, wide=False)
        given = c.c(np.array([2, 3] if name == "scales" else [8, 15], kind))
        c.y(c.op("Resize", c.image(8, 4, 5), "", *(["", given] if name == "sizes" else [given]), mode="nearest",
                 coordinate_transformation_mode="asymmetric", nearest_mode="floor", axes=[2, 3]))
    positive = lambda n: c.c(c.rng.uniform(0.5, 1.5, n).astype(np.float32))
    for name, x in (("image", lambda: c.op("Concat", c.image(8, 4, 5), c.image(6, 4, 5), axis=1)), ("rows", lambda: c.x(1, 14)),
                    ("sequence", lambda: c.x(1, 14, 9))):
        c.begin("batchnorm_" + name, 15)
        c.y(c.op("Sigmoid", c.op("BatchNormalization", x(), positive(14), c.w(14), c.w(14), positive(14))))
    c.begin("gather_table")
    c.y(c.op("Gather", c.w(10, 8), c.indices(1, 5, high=10)))
    c.begin("gather_given")
    c.y(c.op("Gather", c.x(10, 8), c.indices(5, high=10)))
    c.begin("reverse_given")
    c.y(c.op("ReverseSequence", c.x(4, 3, 5), c.indices(3, low=1, high=4), batch_axis=1, time_axis=0))
    number = lambda value: c.c(np.array(value, np.float32))
    c.begin("gelu_parts", 15)
    x = c.op("MatMul", c.x(1, 6, 8), c.w(8, 16))
    erf = c.op("Erf", c.op("Div", x, number(2**0.5)))
    c.y(c.op("Mul", c.op("Mul", x, c.op("Add", erf, number(1))), number(0.5)))
    c.begin("layernorm_parts", 30)
    x = c.op("MatMul", c.x(1, 6, 8), c.w(8, 16))
    apart = c.op("Sub", x, c.op("ReduceMean", x, c.ints(-1)))
    spread = c.op("ReduceMean", c.op("Pow", apart, number(2)), c.ints(-1))
    scaled = c.op("Div", apart, c.op("Sqrt", c.op("Add", spread, number(1e-5))))
    c.y(c.op("Add", c.op("Mul", scaled, positive(16)), c.w(16, scale=1)))
    c.begin("softmax_large", 15)
    c.y(c.op("Softmax", c.x(1, 4, 9, low=-300, high=300)))
    c.begin("no_results")
    weights = -np.abs(c.rng.standard_normal((8, 3, 3, 3))).astype(np.float32)
    c.y(c.op("Relu", c.op("Conv", c.x(1, 3, 6, 5, low=0), c.c(weights))))
    c.begin("no_weights")
    weights = c.rng.standard_normal((8, 3, 1, 1)).astype(np.float32)
    weights[[1, 5]] = 0
    c.y(c.op("Conv", c.x(1, 3, 6, 5), c.c(weights), c.c(np.linspace(-3, 3, 8, dtype=np.float32))),
        c.op("Conv", c.x(1, 3, 6, 5), c.c(0 * weights), c.c(np.linspace(-3, 3, 8, dtype=np.float32))))
    c.begin("lstm_named_functions", 15)
    w, r = c.w(1, 32, 6, scale=0.4), c.w(1, 32, 8, scale=0.4)
    c.y(*c.op("LSTM", c.x(3, 1, 6), w, r, outputs=3, hidden_size=8, activations=["Sigmoid", "Tanh", "Tanh"]))


PARTS = {part.__name__: part for part in (products, arithmetic, windows, functions, recurrent, moves, forms)}


def build(names, wide):
    """The cases of some parts; without those that have no 16 bits, if `wide`."""
    cases = Cases()
    for name in names:
        PARTS[name](cases)
    if not wide:
        return cases
    gone = tuple(f"{case}_" for case, has in cases.wide.items() if not has)
    keep = lambda name: not name.startswith(gone)
    cases.nodes = [node for node in cases.nodes if keep(node.name)]
    cases.constants = [tensor for tensor in cases.constants if keep(tensor.name)]
    cases.inputs = {name: value for name, value in cases.inputs.items() if keep(name)}
    cases.outputs = [name for name in cases.outputs if keep(name)]
    cases.names = {case: names for case, names in cases.names.items() if cases.wide[case]}
    return cases
