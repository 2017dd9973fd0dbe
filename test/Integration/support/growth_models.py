"""Families of models that grow in one way each, for bench/growth and the suite of the same name."""

import math

from onnx import TensorProto, helper

FLOAT, BOOL = TensorProto.FLOAT, TensorProto.BOOL


def info(name, dims=(2, 4), kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, list(dims) if dims is not None else None)


def model(nodes, inputs, outputs, initializers=(), functions=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    opsets = [helper.make_opsetid("", 17)] + ([helper.make_opsetid("f", 1)] if functions else [])
    return helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=list(functions))


def chain(size):
    names = ["x"] + [f"t{i}" for i in range(size - 1)] + ["y"]
    nodes = [helper.make_node("Sin", [a], [b]) for a, b in zip(names, names[1:])]
    return model(nodes, [info("x")], [info("y")])


def concat(size):
    inputs = [info(f"x{i}") for i in range(size)]
    return model([helper.make_node("Concat", [i.name for i in inputs], ["y"], axis=1)], inputs, [info("y", (2, 4 * size))])


def split(size):
    outputs = [info(f"y{i}", (2, 1)) for i in range(size)]
    return model([helper.make_node("Split", ["x"], [o.name for o in outputs], axis=1)], [info("x", (2, size))], outputs)


def outputs(size):
    results = [info(f"y{i}") for i in range(size)]
    return model([helper.make_node("Sin", ["x"], [o.name]) for o in results], [info("x")], results)


def readers(size):
    """Outputs by nodes that differ in their attribute alone, all of one input."""
    results = [info(f"y{i}") for i in range(size)]
    nodes = [helper.make_node("LeakyRelu", ["x"], [o.name], alpha=(i + 1) / (2 * size)) for i, o in enumerate(results)]
    return model(nodes, [info("x")], results)


def inputs(size):
    given = [info(f"x{i}") for i in range(size)]
    nodes = [helper.make_node("Add", ["x0" if i == 1 else f"t{i - 1}", f"x{i}"], [f"t{i}"]) for i in range(1, size)]
    return model(nodes, given, [info(f"t{size - 1}")])


def initializers(size):
    tensors = [helper.make_tensor(f"w{i}", FLOAT, [4], [float(i)] * 4) for i in range(size)]
    nodes = [helper.make_node("Mul", ["x" if i == 0 else f"t{i - 1}", f"w{i}"], [f"t{i}"]) for i in range(size)]
    return model(nodes, [info("x")], [info(f"t{size - 1}")], tensors)


def einsum(size):
    letters = "abcdefghijklmnopqrstuvwxyz"[:size]
    node = helper.make_node("Einsum", ["x", "x"], ["y"], equation=f"{letters},{letters}->{letters[::-1]}")
    return model([node], [info("x", (1,) * size)], [info("y", (1,) * size)])


def nested(size):
    """If in If: a level has two branches, one of which goes on."""
    def branch(depth, name):
        if depth == 0:
            return helper.make_graph([helper.make_node("Sin", ["x"], [name])], name, [], [info(name)])
        node = helper.make_node(
            "If", ["c"], [name], then_branch=branch(depth - 1, f"t{depth}"), else_branch=branch(0, f"e{depth}")
        )
        return helper.make_graph([node], name, [], [info(name)])

    node = helper.make_node("If", ["c"], ["y"], then_branch=branch(size, "t"), else_branch=branch(0, "e"))
    return model([node], [info("x"), info("c", (), BOOL)], [info("y")])


def functions(size):
    """Functions that call each other twice: the number of nodes doubles with each."""
    depth = int(math.log2(size))
    opset = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    made = [helper.make_function("f", "f0", ["a"], ["b"], [helper.make_node("Sin", ["a"], ["b"])], opset)]
    for i in range(1, depth + 1):
        nodes = [helper.make_node(f"f{i - 1}", [a], [b], domain="f") for a, b in (("a", "m"), ("m", "b"))]
        made.append(helper.make_function("f", f"f{i}", ["a"], ["b"], nodes, opset))
    return model([helper.make_node(f"f{depth}", ["x"], ["y"], domain="f")], [info("x")], [info("y")], functions=made)


def opened(model, dims=("n", "m")):
    """The same model with names in place of its inputs' sizes; outputs follow."""
    for index, info in enumerate([*model.graph.input, *model.graph.output]):
        shape = info.type.tensor_type.shape
        for axis, dim in enumerate(shape.dim):
            if index < len(model.graph.input):
                dim.dim_param = dims[axis % len(dims)]
            else:
                dim.Clear()
    return model


# Of each family: how a model of a size is made, and five sizes.
FAMILIES = {
    "chain": (chain, (500, 1000, 2000, 4000, 8000)),
    "open chain": (lambda size: opened(chain(size)), (500, 1000, 2000, 4000, 8000)),
    "concat": (concat, (64, 125, 250, 500, 1000)),
    "split": (split, (1000, 3000, 7500, 15000, 30000)),
    "outputs": (outputs, (1000, 3000, 7500, 15000, 30000)),
    "readers": (readers, (250, 500, 1000, 2000, 4000)),
    "inputs": (inputs, (1000, 3000, 7500, 15000, 30000)),
    "initializers": (initializers, (500, 1000, 2000, 4000, 8000)),
    "einsum": (einsum, (4, 8, 12, 16, 20)),
    "if": (nested, (2, 4, 8, 16, 24)),
    "functions": (functions, (512, 1024, 2048, 4096, 8192)),
}
