"""Models that must be refused, built one by one. Used by badinput.py.

`cases(folder)` writes each below its own folder and yields a Case: the model, and
words its error must contain (the node or tensor at fault, where there is one).
Serialized with onnx's helpers where they allow the fault, by hand where not.
"""

import os
import pathlib
from dataclasses import dataclass

from onnx import AttributeProto, FunctionProto, ModelProto, TensorProto, helper

FLOAT = TensorProto.FLOAT
NESTING = 10_000
BUILDERS = []


@dataclass
class Case:
    name: str
    path: pathlib.Path
    words: tuple = ()


def builder(function):
    BUILDERS.append(function)
    return function


def info(name, dims=(2, 3), elem=FLOAT):
    return helper.make_tensor_value_info(name, elem, list(dims) if dims is not None else None)


def node(op, inputs, outputs, name="culprit", **attributes):
    return helper.make_node(op, inputs, outputs, name=name, **attributes)


def model(nodes, inputs=None, outputs=None, initializers=(), opset=13):
    graph = helper.make_graph(
        nodes, "g", [info("x")] if inputs is None else inputs, [info("y")] if outputs is None else outputs, list(initializers)
    )
    built = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    built.ir_version = 8
    return built


def relu():
    return node("Relu", ["x"], ["y"], name="fine")


def tensor(name, dims=(2, 3), elem=FLOAT, **fields):
    built = TensorProto(name=name, data_type=elem, **fields)
    built.dims.extend(dims)
    return built


def with_tensor(built):
    return model([node("Add", ["x", built.name], ["y"], name="fine")], initializers=[built])


def external(name="weight", size=24, **entries):
    built = tensor(name, (size // 4,))
    built.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        built.external_data.add(key=key, value=str(value))
    return with_tensor(built)


# --- files that are no model


@builder
def files(folder):
    good = model([relu()]).SerializeToString()
    yield "empty file", b""
    yield "truncated by a byte", good[:-1]
    yield "truncated in the middle", good[: len(good) // 2]
    yield "truncated in the header", good[:1]
    yield "a picture", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
    yield "text", b"this is no model\n" * 50
    yield "an archive", b"PK\x03\x04" + bytes(100)
    yield "a graph longer than the file", b"\x08\x08\x3a\xff\xff\xff\xff\x0f" + bytes(64)


@builder
def no_files(folder):
    (folder / "a-folder.onnx").mkdir(parents=True)
    yield "a folder", folder / "a-folder.onnx"
    yield "a missing file", folder / "nothing.onnx"


# --- the model around the graph


@builder
def headers(folder):
    yield "no graph", ModelProto(ir_version=8, opset_import=[helper.make_opsetid("", 13)])
    built = model([relu()])
    del built.opset_import[:]
    yield "no opset", built
    yield "an opset of the future", model([relu()], opset=9999)
    yield "a negative opset", model([relu()], opset=-3)


# --- wiring


@builder
def wiring(folder):
    yield "cycle", model([node("Relu", ["b"], ["a"]), node("Relu", ["a"], ["b"]), relu()]), "culprit"
    yield "a node that feeds itself", model([node("Add", ["x", "y"], ["y"])]), "culprit"
    yield "undefined input", model([node("Add", ["x", "ghost"], ["y"])]), "ghost"
    yield "missing initializer", model([node("Conv", ["x", "weight"], ["y"])], [info("x", (1, 3, 8, 8))]), "weight"
    yield "undefined graph output", model([relu()], outputs=[info("ghost")]), "ghost"
    yield "two nodes with one output", model([relu(), node("Abs", ["x"], ["twin"]), node("Neg", ["x"], ["twin"])]), "twin"
    yield "one node, one output twice", model([relu(), node("Split", ["x"], ["twin", "twin"])]), "twin"
    yield "two inputs of one name", model([relu()], [info("x"), info("twin"), info("twin")]), "twin"
    twins = [tensor("twin", (1,), raw_data=data) for data in (b"abcd", b"efgh")]
    yield "two initializers of one name", model([node("Add", ["x", "twin"], ["y"])], initializers=twins), "twin"
    branch = helper.make_graph([node("Relu", ["ghost"], ["r"])], "branch", [], [info("r")])
    yield "undefined input inside a branch", model(
        [node("If", ["c"], ["y"], name="fork", then_branch=branch, else_branch=branch)], [info("c", (), TensorProto.BOOL)]
    ), "ghost"


@builder
def names(folder):
    yield "graph input without a name", model([relu()], [info("x"), info("")])
    yield "initializer without a name", model([relu()], initializers=[tensor("", (1,), raw_data=b"abcd")])
    yield "required input left out", model([node("Relu", [""], ["y"])]), "culprit"
    yield "operator without a name", model([node("", ["x"], ["y"])]), "culprit"
    yield "graph output without a name", model([relu()], outputs=[info("")])


# --- operators


@builder
def operators(folder):
    yield "unknown operator", model([node("NoSuchOperator", ["x"], ["y"])]), "NoSuchOperator"
    yield "too many inputs", model([node("Relu", ["x", "x"], ["y"])]), "culprit"
    yield "too few inputs", model([node("Add", ["x"], ["y"])]), "culprit"
    yield "no inputs", model([node("Concat", [], ["y"], axis=0)]), "culprit"
    yield "too many outputs", model([node("Relu", ["x"], ["y", "z"])]), "culprit"
    yield "no outputs", model([relu(), node("Relu", ["x"], [])]), "culprit"
    yield "unknown attribute", model([node("Relu", ["x"], ["y"], colour=3)]), "culprit"
    yield "missing attribute", model([node("Concat", ["x", "x"], ["y"])]), "culprit"
    yield "a float where integers belong", model([node("Transpose", ["x"], ["y"], perm=1.5)]), "culprit"
    yield "a string where an integer belongs", model([node("Softmax", ["x"], ["y"], axis="last")]), "culprit"
    yield "an integer where a graph belongs", model(
        [node("If", ["c"], ["y"], then_branch=1, else_branch=2)], [info("c", (), TensorProto.BOOL)]
    ), "culprit"
    untyped = node("Softmax", ["x"], ["y"])
    untyped.attribute.append(AttributeProto(name="axis", i=1))
    yield "an attribute without a type", model([untyped]), "culprit"
    twice = node("Softmax", ["x"], ["y"], axis=1)
    twice.attribute.append(helper.make_attribute("axis", 0))
    yield "an attribute twice", model([twice]), "culprit"
    yield "an axis out of range", model([node("Softmax", ["x"], ["y"], axis=7)]), "culprit"


# --- tensors and types


@builder
def tensors(folder):
    yield "raw data too short", with_tensor(tensor("weight", raw_data=b"\0" * 20)), "weight"
    yield "raw data too long", with_tensor(tensor("weight", raw_data=b"\0" * 28)), "weight"
    yield "no data", with_tensor(tensor("weight")), "weight"
    yield "too few typed values", with_tensor(tensor("weight", float_data=[1.0] * 5)), "weight"
    yield "values in another type's field", with_tensor(tensor("weight", int64_data=[1] * 6)), "weight"
    yield "dims whose product overflows", with_tensor(tensor("weight", (1 << 40, 1 << 40), raw_data=b"abcd")), "weight"
    yield "dims whose product wraps to the data's size", with_tensor(
        tensor("weight", (1 << 62, 4, 1), raw_data=b"")
    ), "weight"
    yield "dims of a petabyte", with_tensor(tensor("weight", (1 << 48,), raw_data=b"abcd")), "weight"
    yield "negative dim", with_tensor(tensor("weight", (-1,), raw_data=b"abcd")), "weight"
    yield "negative dims whose product fits", with_tensor(tensor("weight", (-2, -3), raw_data=b"\0" * 24)), "weight"
    yield "unknown element type", with_tensor(tensor("weight", elem=99, raw_data=b"\0" * 24)), "weight"
    yield "undefined element type", with_tensor(tensor("weight", elem=0, raw_data=b"\0" * 24)), "weight"
    for fault, wrong in (
        ("of unknown element type", info("odd", elem=77)),
        ("with a negative dim", info("odd", (2, -5))),
        ("whose dims' product overflows", info("odd", (1 << 45, 1 << 45))),
        ("without a type", helper.ValueInfoProto(name="odd")),
    ):
        yield "input " + fault, model([relu()], [info("x"), wrong]), "odd"
    constant = tensor("value", (3,), raw_data=b"short")
    yield "constant with wrong size", model([node("Constant", [], ["y"], value=constant)]), "culprit"


@builder
def sparse(folder):
    built = model([node("Add", ["x", "weight"], ["y"], name="fine")])
    entry = built.graph.sparse_initializer.add()
    entry.values.CopyFrom(tensor("weight", (2,), float_data=[1.0, 2.0]))
    entry.indices.CopyFrom(tensor("", (2,), TensorProto.INT64, int64_data=[0, 1 << 40]))
    entry.dims.extend([2, 3])
    yield "sparse index out of range", built, "weight"


# --- external data


@builder
def externals(folder):
    outside = folder / "outside.bin"
    outside.parent.mkdir(parents=True, exist_ok=True)
    outside.write_bytes(bytes(64))
    yield "external data by ..", external(location="../outside.bin", length=24), "weight"
    yield "external data by a hidden ..", external(location="sub/../../outside.bin", length=24), "weight"
    yield "external data by an absolute path", external(location=outside, length=24), "weight"
    yield "external data without a location", external(length=24), "weight"
    yield "external data that isn't there", external(location="nothing.bin", length=24), "weight"


@builder
def external_files(folder):
    here = folder / "with-data"
    here.mkdir(parents=True, exist_ok=True)
    (here / "data.bin").write_bytes(bytes(16))
    os.symlink(folder / "outside.bin", here / "link.bin")
    os.symlink(folder, here / "up")
    os.mkfifo(here / "pipe.bin")

    def write(name, built):
        path = here / (name.replace(" ", "-") + ".onnx")
        path.write_bytes(built.SerializeToString())
        return name, path, "weight"

    yield write("external data by a symlink", external(location="link.bin", length=24))
    yield write("external data by a symlinked folder", external(location="up/outside.bin", length=24))
    yield write("external data shorter than declared", external(location="data.bin", length=24))
    yield write("external data shorter than the dims", external(location="data.bin"))
    yield write("external length other than the dims", external(location="data.bin", length=8))
    yield write("external offset beyond the end", external(location="data.bin", offset=1 << 40, length=24))
    yield write("external offset that overflows", external(location="data.bin", offset=(1 << 64) - 8, length=24))
    yield write("negative external offset", external(location="data.bin", offset=-8, length=24))
    yield write("external offset that is no number", external(location="data.bin", offset="five", length=24))
    yield write("external data in a folder", external(location=".", length=24))
    yield write("external data that is a pipe", external(location="pipe.bin", length=24))


# --- depth and blow-up


def field(number, payload):
    """A length-delimited protobuf field."""
    size, head = len(payload), bytearray([number << 3 | 2])
    while True:
        head.append(size & 127 | (128 if size > 127 else 0))
        size >>= 7
        if not size:
            return bytes(head) + payload


@builder
def nesting(folder):
    # Built inside out; a serializer would recurse as deep as the model does.
    leaf = helper.make_graph([node("Identity", ["x"], ["r"], name="leaf")], "b", [], [info("r")]).SerializeToString()
    graph = leaf
    output = field(12, info("r").SerializeToString())
    for _ in range(NESTING):
        then_branch = field(1, b"then_branch") + field(6, graph) + bytes([20 << 3 & 127 | 128, 1, 5])
        else_branch = field(1, b"else_branch") + field(6, leaf) + bytes([20 << 3 & 127 | 128, 1, 5])
        fork = field(1, b"c") + field(2, b"r") + field(3, b"fork") + field(4, b"If")
        graph = field(1, fork + field(5, then_branch) + field(5, else_branch)) + field(2, b"b") + output
    inputs = field(11, info("c", (), TensorProto.BOOL).SerializeToString()) + field(11, info("x").SerializeToString())
    opset = field(8, helper.make_opsetid("", 13).SerializeToString())
    yield f"If nested {NESTING} deep", b"\x08\x08" + field(7, graph + inputs) + opset
    types = info("x").type.SerializeToString()
    for _ in range(NESTING):
        types = field(4, field(1, types))
    deep = model([relu()]).SerializeToString() + field(7, field(11, field(1, b"deep") + field(2, types)))
    yield f"sequence type nested {NESTING} deep", deep


def function(name, nodes):
    return FunctionProto(
        domain="local", name=name, input=["a"], output=["b"], node=nodes, opset_import=[helper.make_opsetid("", 13)]
    )


def with_functions(functions, call):
    built = model([helper.make_node(call, ["x"], ["y"], name="culprit", domain="local")])
    built.opset_import.append(helper.make_opsetid("local", 1))
    for entry in functions:
        entry.opset_import.append(helper.make_opsetid("local", 1))
    built.functions.extend(functions)
    return built


@builder
def functions(folder):
    def call(name, source, target):
        return helper.make_node(name, [source], [target], domain="local")

    yield "a function that calls itself", with_functions([function("F", [call("F", "a", "b")])], "F")
    yield "functions that call each other", with_functions(
        [function("F", [call("G", "a", "b")]), function("G", [call("F", "a", "b")])], "F"
    )
    # Each level calls the next ten times: 10^12 nodes when inlined.
    levels = []
    for level in range(12):
        names = ["a", *(f"t{i}" for i in range(9)), "b"]
        op = f"L{level + 1}"
        levels.append(function(f"L{level}", [call(op, names[i], names[i + 1]) for i in range(10)]))
    levels.append(function("L12", [helper.make_node("Relu", ["a"], ["b"])]))
    yield "functions that multiply", with_functions(levels, "L0"), "function 'L0'"


def cases(folder):
    for build in BUILDERS:
        place = folder / build.__name__
        for name, what, *words in build(place):
            if isinstance(what, pathlib.Path):
                path = what
            else:
                path = place / "models" / (name.replace(" ", "-").replace("/", "-") + ".onnx")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(what if isinstance(what, bytes) else what.SerializeToString())
            yield Case(name, path, tuple(words))
