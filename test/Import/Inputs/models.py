#!/usr/bin/python3
"""Small models for the import and export tests, by name.

    models.py NAME FILE.onnx

A model is a function here that returns a ModelProto. Fields that Debian's onnx
doesn't know yet are appended as bytes.
"""

import sys

import onnx
from onnx import TensorProto, helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
info = helper.make_tensor_value_info
node = helper.make_node
graph = helper.make_graph


def model(nodes, inputs, outputs, initializers=(), opset=17, domains=(), functions=(), ir=8):
    built = helper.make_model(
        graph(nodes, "g", inputs, outputs, list(initializers)),
        opset_imports=[helper.make_opsetid("", opset), *(helper.make_opsetid(d, v) for d, v in domains)],
        functions=list(functions),
        producer_name="test",
    )
    built.ir_version = ir
    return built


def function(domain, name, inputs, outputs, nodes, opsets, attributes=()):
    return helper.make_function(
        domain, name, inputs, outputs, nodes, [helper.make_opsetid(d, v) for d, v in opsets], list(attributes)
    )


def reference(name, to, kind):
    """An attribute that takes its value from the call of the function it is in."""
    return onnx.AttributeProto(name=name, ref_attr_name=to, type=kind)


def field(number, payload):
    """A length-delimited field, as bytes."""
    assert number < 16 and len(payload) < 128
    return bytes([number << 3 | 2, len(payload)]) + payload


def entry(number, key, value):
    return field(number, field(1, key.encode()) + field(2, value.encode()))


def functions():
    """Calls inside calls; attributes given, by default and left out; inputs and outputs left out."""
    leaky = node("LeakyRelu", ["a"], ["b"], name="leaky")
    leaky.attribute.append(reference("alpha", "slope", onnx.AttributeProto.FLOAT))
    inner = function("local", "Inner", ["a"], ["b"], [leaky], [("", 17)], ["slope"])
    call = node("Inner", ["p"], ["t"], domain="local", name="call")
    call.attribute.append(reference("slope", "outer_slope", onnx.AttributeProto.FLOAT))
    soft = node("Softmax", ["t"], ["u"], name="soft")
    soft.attribute.append(reference("axis", "axis", onnx.AttributeProto.INT))
    clip = node("Clip", ["u", "low"], ["q"], name="clip")
    outer = function(
        "local", "Outer", ["p", "low"], ["q", "p", "t"], [call, soft, clip], [("", 17), ("local", 1)], ["outer_slope"]
    )
    outer.MergeFromString(field(11, helper.make_attribute("axis", 1).SerializeToString()))
    return model(
        [
            node("Outer", ["x"], ["y", "z"], domain="local", name="first", outer_slope=0.5),
            node("Outer", ["y", "floor"], ["w", "", "v"], domain="local", name="second", axis=0),
        ],
        [info("x", FLOAT, [2, 3]), info("floor", FLOAT, [])],
        [info("z", FLOAT, [2, 3]), info("w", FLOAT, [2, 3]), info("v", FLOAT, [2, 3])],
        domains=[("local", 1)],
        functions=[inner, outer],
    )


def function_opset():
    """A function of an older opset, and with an operator of a domain that only it imports."""
    squeeze = node("Squeeze", ["a"], ["t"], axes=[0])
    mystery = node("Mystery", ["t"], ["b"], domain="odd")
    old = function("local", "Old", ["a"], ["b"], [squeeze, mystery], [("", 11), ("odd", 4)])
    return model(
        [node("Old", ["x"], ["y"], domain="local", name="old")],
        [info("x", FLOAT, [1, 3])],
        [info("y", FLOAT, [3])],
        domains=[("local", 1)],
        functions=[old],
    )


def branches():
    """If in If; branches read outer values, yield them, and have initializers of their own."""
    deep = graph([node("Neg", ["t"], ["n"], name="neg")], "deep", [], [info("n", FLOAT, ["n", 3])])
    flat = graph([node("Identity", ["t"], ["i"], name="same")], "flat", [], [info("i", FLOAT, ["n", 3])])
    one = helper.make_tensor("one", FLOAT, [1], [1.0])
    then_branch = graph(
        [
            node("Add", ["x", "one"], ["t"], name="add"),
            node("If", ["d"], ["s"], name="inner", then_branch=deep, else_branch=flat),
        ],
        "then_graph", [], [info("s", FLOAT, ["n", 3])], [one],
    )
    else_branch = graph([node("Mul", ["x", "x"], ["m"], name="mul")], "else_graph", [], [info("m", FLOAT, ["n", 3])])
    return model(
        [node("If", ["c"], ["y"], name="outer", then_branch=then_branch, else_branch=else_branch)],
        [info("c", BOOL, []), info("d", BOOL, []), info("x", FLOAT, ["n", 3])],
        [info("y", FLOAT, ["n", 3])],
    )


def shadowed():
    """Branches that name what they make, and an initializer, like the If's outputs and other outer tensors."""
    two = helper.make_tensor("w", FLOAT, [1], [2.0])
    shape = ["n", 3]
    then_branch = graph(
        [node("Mul", ["x", "w"], ["t"], name="double"), node("Relu", ["t"], ["y"], name="relu")],
        "then_graph", [], [info("y", FLOAT, shape)], [two],
    )
    else_branch = graph([node("Add", ["x", "w"], ["y"], name="add")], "else_graph", [], [info("y", FLOAT, shape)])
    return model(
        [
            node("Neg", ["y"], ["z"], name="after"),
            node("If", ["c"], ["y"], name="optimum::if", then_branch=then_branch, else_branch=else_branch),
            node("Abs", ["x"], ["t"], name="abs"),
        ],
        [info("c", BOOL, []), info("x", FLOAT, shape)],
        [info("z", FLOAT, shape), info("t", FLOAT, shape)],
        [helper.make_tensor("w", FLOAT, [1], [5.0])],
    )


def shadowed_function():
    """A function whose subgraph hides one of its inputs, called with one tensor for both."""
    body = graph([node("Neg", ["b"], ["a"], name="neg"), node("Add", ["a", "b"], ["r"], name="add")],
                 "body", [], [info("r", FLOAT, [3])])
    other = graph([node("Identity", ["a"], ["r"], name="same")], "other", [], [info("r", FLOAT, [3])])
    choose = node("If", ["c"], ["q"], name="choose", then_branch=body, else_branch=other)
    local = function("local", "Choose", ["c", "a", "b"], ["q"], [choose], [("", 17)])
    return model(
        [node("Choose", ["c", "x", "x"], ["y"], domain="local", name="call")],
        [info("c", BOOL, []), info("x", FLOAT, [3])], [info("y", FLOAT, [3])],
        domains=[("local", 1)], functions=[local],
    )


def optimized():
    """What ONNX Runtime's optimizers write: operators of later opsets, fused ones, and its own layout."""
    ms, blocked = "com.microsoft", "com.microsoft.nchwc"
    weight = helper.make_tensor("w", FLOAT, [8, 3, 1, 1], [float(i) for i in range(24)])
    vector = [helper.make_tensor(n, FLOAT, [4], [1.0, 2.0, 3.0, 4.0]) for n in ("g", "b")]
    return model(
        [
            node("LayerNormalization", ["x", "g", "b"], ["l"], name="norm", axis=-1, epsilon=1e-5),
            node("SimplifiedLayerNormalization", ["l", "g"], ["s"], name="rms", axis=-1, epsilon=1e-5),
            node("BiasGelu", ["s", "b"], ["u"], name="gelu", domain=ms),
            node("FusedMatMul", ["u", "s"], ["m"], name="product", domain=ms, alpha=0.5, transB=1),
            node("Conv", ["i", "w"], ["k"], name="conv", domain=blocked, kernel_shape=[1, 1], activation="Relu"),
            node("ReorderOutput", ["k"], ["o"], name="plain", domain=blocked, channels=5),
        ],
        [info("x", FLOAT, ["n", 2, 4]), info("i", FLOAT, [1, 3, 2, 2])],
        [info("m", FLOAT, None), info("o", FLOAT, None)],
        [weight, *vector], opset=11, domains=[(ms, 1), (blocked, 1)], ir=7,
    )


def loop():
    """A loop that carries a sum, stacks it, and reads an outer tensor."""
    body = graph(
        [
            node("Add", ["sum", "step"], ["next"], name="add"),
            node("Identity", ["go"], ["on"], name="go_on"),
            node("Identity", ["next"], ["seen"], name="see"),
        ],
        "body",
        [info("i", INT64, []), info("go", BOOL, []), info("sum", FLOAT, ["k"])],
        [info("on", BOOL, []), info("next", FLOAT, ["k"]), info("seen", FLOAT, ["k"])],
    )
    return model(
        [node("Loop", ["count", "", "x"], ["y", "z"], name="loop", body=body)],
        [info("x", FLOAT, ["k"]), info("step", FLOAT, ["k"])],
        [info("y", FLOAT, ["k"]), info("z", FLOAT, [5, "k"])],
        [helper.make_tensor("count", INT64, [], [5])],
    )


def scan_body():
    return graph(
        [node("Add", ["sum", "e"], ["next"], name="add"), node("Identity", ["next"], ["out"], name="same")],
        "body",
        [info("sum", FLOAT, [2]), info("e", FLOAT, [2])],
        [info("next", FLOAT, [2]), info("out", FLOAT, [2])],
    )


def scan():
    return model(
        [node("Scan", ["s", "x"], ["y", "z"], name="scan", body=scan_body(), num_scan_inputs=1, scan_input_directions=[1])],
        [info("s", FLOAT, [2]), info("x", FLOAT, ["t", 2])],
        [info("y", FLOAT, [2]), info("z", FLOAT, ["t", 2])],
    )


def scan_8(lengths=""):
    inputs = [info("s", FLOAT, [4, 2]), info("x", FLOAT, [4, 3, 2])]
    if lengths:
        inputs.append(info(lengths, INT64, [4]))
    return model(
        [node("Scan", [lengths, "s", "x"], ["y", "z"], name="scan", body=scan_body(), num_scan_inputs=1, directions=[1])],
        inputs,
        [info("y", FLOAT, [4, 2]), info("z", FLOAT, [4, 3, 2])],
        opset=8, ir=4,
    )


def scan_8_lengths():
    return scan_8("lengths")


def opaque():
    """Operators that nobody knows, with attributes of all kinds."""
    body = graph([node("Relu", ["x"], ["r"], name="inside")], "body", [], [info("r", FLOAT, [2, "n"])])
    other = graph([node("Neg", ["x"], ["q"], name="inside_too")], "other", [], [info("q", FLOAT, [2, "n"])])
    tensor = helper.make_tensor("value", TensorProto.INT8, [2], [1, -2])
    strange = node(
        "Strange", ["x", "", "x"], ["t", "", "u"], name="strange", domain="com.example", doc_string="what is this",
        count=3, ratio=0.25, text="abc", bytes=b"\x00\xff", ints=[1, 2], floats=[0.5, 1.5], strings=["a", "b"],
        tensor=tensor, body=body,
    )
    for name, kind in (("none", "FLOATS"), ("nil", "STRINGS"), ("nothing", "INTS")):
        strange.attribute.append(onnx.AttributeProto(name=name, type=getattr(onnx.AttributeProto, kind)))
    # Names in one branch may be those of another, but for nodes.
    again = onnx.GraphProto.FromString(body.SerializeToString())
    again.node[0].name = "inside_again"
    strange.attribute.append(helper.make_attribute("bodies", [again, other]))
    strange.attribute.append(helper.make_attribute("tensors", [tensor, tensor]))
    strange.attribute.append(helper.make_attribute("type", helper.make_tensor_type_proto(FLOAT, ["k", 2])))
    built = model(
        [strange, node("Plain", ["t"], ["y"], name="plain", domain="com.example")],
        [info("x", FLOAT, [2, "n"])],
        [info("y", FLOAT, [2, "n"]), info("u", INT64, None)],
        domains=[("com.example", 7), ("unused", 2)],
    )
    built.graph.value_info.append(info("t", FLOAT, [2, "n"]))
    return built


def notes():
    """Names, doc strings and metadata wherever the format has a place for them."""
    weight = helper.make_tensor("weight", FLOAT, [3], [1, 2, 3])
    weight.doc_string = "of a tensor"
    add = node("Add", ["x", "weight"], ["t"], name="the add", doc_string="of a node")
    add.MergeFromString(entry(9, "node key", "node value"))
    branch = graph([node("Relu", ["t"], ["r"], name="relu")], "branch", [], [info("r", FLOAT, [2, 3])])
    branch.doc_string = "of a branch"
    fork = node("If", ["c"], ["y"], name="fork", then_branch=branch, else_branch=branch)
    # The second branch's names are its own.
    other = fork.attribute[1].g
    other.name, other.node[0].name, other.node[0].output[0], other.output[0].name = "other", "relu2", "r2", "r2"
    x = info("x", FLOAT, [2, 3], "of an input")
    x.MergeFromString(entry(4, "input key", "input value"))
    built = model([add, fork], [info("c", BOOL, []), x], [info("y", FLOAT, [2, 3], "of an output")], [weight])
    built.graph.value_info.append(info("t", FLOAT, [2, 3], "of a value"))
    built.graph.name, built.graph.doc_string = "the graph", "of the graph"
    built.doc_string, built.domain, built.model_version = "of the model", "org.example", 42
    built.producer_version = "1.2"
    built.metadata_props.add(key="model key", value="model value")
    note = built.graph.quantization_annotation.add(tensor_name="t")
    note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="weight")
    return built


def unnamed():
    """Nodes without a name, and two of one name."""
    return model(
        [
            node("Relu", ["x"], ["a"]),
            node("Relu", ["a"], ["b"]),
            node("Neg", ["b"], ["c"], name="twin"),
            node("Neg", ["c"], ["y"], name="twin"),
        ],
        [info("x", FLOAT, [2])], [info("y", FLOAT, [2])],
    )


def dims():
    """Named dimensions through a flattening and a convolution."""
    return model(
        [
            node("Conv", ["x", "w"], ["c"], name="conv", strides=[2, 2], pads=[1, 1, 1, 1]),
            node("Shape", ["c"], ["s"], name="shape"),
            node("Gather", ["s", "zero"], ["n"], name="gather"),
            node("Concat", ["n", "rest"], ["to"], name="concat", axis=0),
            node("Reshape", ["c", "to"], ["y"], name="reshape"),
        ],
        [info("x", FLOAT, ["batch", 3, "height", "width"])],
        [info("y", FLOAT, None)],
        [
            helper.make_tensor("w", FLOAT, [4, 3, 3, 3], [0.0] * 108),
            helper.make_tensor("zero", INT64, [1], [0]),
            helper.make_tensor("rest", INT64, [1], [-1]),
        ],
    )


def sparse():
    """Sparse initializers with linear and with full indices, and a sparse constant."""

    def tensor(name, indices, values, shape):
        built = onnx.SparseTensorProto(dims=shape)
        built.values.CopyFrom(helper.make_tensor(name, FLOAT, [len(values)], values))
        flat = [i for index in indices for i in index] if isinstance(indices[0], list) else indices
        rank = [len(indices), len(indices[0])] if isinstance(indices[0], list) else [len(indices)]
        built.indices.CopyFrom(helper.make_tensor("", INT64, rank, flat))
        return built

    constant = node("Constant", [], ["k"], name="k", sparse_value=tensor("", [1], [7.0], [3]))
    built = model(
        [
            constant,
            node("Add", ["x", "linear"], ["a"], name="a"),
            node("Add", ["a", "full"], ["b"], name="b"),
            node("Add", ["b", "k"], ["y"], name="y"),
        ],
        [info("x", FLOAT, [2, 3])], [info("y", FLOAT, [2, 3])],
    )
    built.graph.sparse_initializer.append(tensor("linear", [1, 5], [1.0, 2.0], [2, 3]))
    built.graph.sparse_initializer.append(tensor("full", [[0, 2], [1, 0]], [3.0, 4.0], [2, 3]))
    return built


def constants():
    """Constants in every form a Constant node has."""
    forms = {
        "value": helper.make_tensor("v", FLOAT, [2], [1, 2]),
        "value_float": 3.0, "value_floats": [4.0, 5.0], "value_int": 6, "value_ints": [7, 8],
    }
    nodes = [node("Constant", [], [form], name="node_" + form, **{form: value}) for form, value in forms.items()]
    return model(nodes, [], [info(form, INT64 if "int" in form else FLOAT, None) for form in forms])


def outputs():
    """Outputs that are inputs, initializers, and values read elsewhere."""
    return model(
        [node("Relu", ["x"], ["y"], name="relu"), node("Neg", ["y"], ["z"], name="neg")],
        [info("x", FLOAT, [2])],
        [info("x", FLOAT, [2]), info("w", FLOAT, [2]), info("y", FLOAT, [2]), info("z", FLOAT, [2])],
        [helper.make_tensor("w", FLOAT, [2], [1, 2])],
    )


def overflow():
    """A shape that only inference finds to be too large."""
    size = 1 << 40
    return model(
        [node("ConstantOfShape", ["shape"], ["y"], name="culprit")],
        [], [info("y", FLOAT, None)],
        [helper.make_tensor("shape", INT64, [2], [size, size])],
    )


def weights():
    """One small and two large weights."""
    names = {"small": 4, "large": 512, "larger": 1000}
    nodes, value = [], "x"
    for name in names:
        nodes.append(node("Add", [value, name], ["after_" + name], name="add_" + name))
        value = "after_" + name
    return model(
        [node("Neg", ["x"], ["n"], name="neg"), *nodes[1:]],
        [info("x", FLOAT, [1]), info("after_small", FLOAT, [1])],
        [info("n", FLOAT, [1]), info("after_larger", FLOAT, None)],
        [helper.make_tensor(n, FLOAT, [s if n != "larger" else 1, *([s] if n == "larger" else [1])],
                            [float(i) for i in range(s)]) for n, s in names.items()],
    )


if __name__ == "__main__":
    with open(sys.argv[2], "wb") as file:
        file.write(globals()[sys.argv[1]]().SerializeToString())
