"""What ESP-DL lacks is told by `esp check`, all nodes at once, and what a user should know of a written file is noted."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support import esp_files
from support.esp_cases import Cases
from support.esp_operators import espdl
from support.harness import ONNXQ, run


def lacking(c):
    """A node for every reason but those of operators, by its name."""
    image = lambda *shape: c.x(*(shape or (1, 4, 6, 5)))
    reasons = {}

    def refuse(reason, op, *inputs, outputs=1, **attributes):
        c.begin(f"r{len(reasons)}")
        reasons[f"lacks{len(reasons)}"] = reason
        c.y(*np.atleast_1d(c.op(op, *inputs, name=f"lacks{len(reasons) - 1}", outputs=outputs, **attributes)))

    c.begin("given")
    refuse("has a batch of 2", "MaxPool", image(2, 4, 6, 6), kernel_shape=[2, 2])
    refuse("has a batch of 2", "GlobalAveragePool", image(2, 4, 6, 6))
    refuse("has a batch of 2", "ConvTranspose", image(2, 4, 6, 6), c.w(4, 5, 2, 2))
    refuse("has a batch of 3", "DepthToSpace", image(3, 4, 6, 6), blocksize=2)
    refuse("three dimensions", "AveragePool", image(1, 2, 4, 4, 4), kernel_shape=[2, 2, 2])
    refuse("three dimensions", "Conv", image(1, 2, 4, 4, 4), c.w(3, 2, 2, 2, 2))
    refuse("has 2 groups", "ConvTranspose", image(), c.w(4, 3, 2, 2), group=2)
    refuse("has 4 groups", "Conv", image(), c.w(8, 1, 3, 3), group=4)
    refuse("a filter that isn't constant", "Conv", image(), image(3, 4, 2, 2))
    refuse("has dilations", "MaxPool", image(), kernel_shape=[2, 2], dilations=[2, 2])
    refuse("gives places of maxima", "MaxPool", image(), kernel_shape=[2, 2], outputs=2)
    refuse("count_include_pad = 0", "AveragePool", image(), kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    refuse("count_include_pad = 0", "AveragePool", image(), kernel_shape=[2, 2], strides=[2, 2], auto_pad="SAME_UPPER")
    refuse("beyond its input and padding", "AveragePool", image(), kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    numbers = lambda *values: c.c(np.array(values, np.float32))
    refuse("'asymmetric' and 'round_prefer_floor'", "Resize", image(), "", numbers(1, 1, 3, 3), mode="nearest",
           coordinate_transformation_mode="asymmetric")
    refuse("antialias", "Resize", image(), "", numbers(1, 1, 0.5, 0.5), mode="linear", antialias=1)
    refuse("'cubic'", "Resize", image(), "", numbers(1, 1, 2, 2), mode="cubic")
    refuse("changes batch or channels", "Resize", image(), "", numbers(1, 2, 1, 1), mode="linear")
    refuse("to a size of 1", "Resize", image(), "", "", c.ints(1, 4, 1, 3), mode="linear",
           coordinate_transformation_mode="pytorch_half_pixel")
    refuse("'asymmetric'; the runtime has half_pixel", "Resize", image(), "", numbers(1, 1, 2, 2), mode="linear",
           coordinate_transformation_mode="asymmetric")
    refuse("slopes that aren't one per channel", "PRelu", image(), c.w(5))
    refuse("slopes that aren't constant", "PRelu", image(), image(4, 1, 1))
    refuse("the reduction 'add'", "ScatterND", c.x(4, 5), c.c(np.array([[0], [2]])), c.x(2, 5), reduction="add")
    refuse("reduces nothing", "ReduceMax", c.x(1, 4), c.ints(), noop_with_empty_axes=1)
    refuse("more than 4 dimensions", "Mul", c.x(1, 2, 3, 4, 5), c.x(1, 2, 3, 4, 5))
    refuse("weights that aren't constant", "Gemm", c.x(2, 12), c.x(12, 16))
    refuse("pads by wrapping around", "Pad", image(), c.ints(0, 0, 1, 0, 0, 0, 1, 2), mode="wrap")
    return reasons


# Found by the rules themselves, with the other nodes in order.
def by_rule(c):
    reasons = {}

    def refuse(reason, op, *inputs, **attributes):
        c.begin(f"q{len(reasons)}")
        reasons[f"stops{len(reasons)}"] = reason
        c.y(c.op(op, *inputs, name=f"stops{len(reasons) - 1}", **attributes))

    c.begin("given")
    refuse("bounds that aren't constant", "Clip", c.x(1, 9), c.x())
    refuse("a bias of another size", "Gemm", c.x(2, 12), c.w(12, 16), c.w(2, 16))
    refuse("pads larger than its window", "ConvTranspose", c.x(1, 4, 6, 6), c.w(4, 3, 2, 2), pads=[2, 2, 2, 2])
    return reasons


def refusals(tally, folder):
    for label, make in (("lacks", lacking), ("stops", by_rule)):
        c = Cases()
        reasons = make(c)
        path = folder / f"{label}.onnx"
        onnx.save(c.model(), path)
        outcome = run([ONNXQ, "esp", "check", path], timeout=60)
        lines = outcome.stderr.splitlines()
        tally.result(f"check {label}", None if outcome.status == 1 and not outcome.stdout else outcome.ended())
        for name, reason in reasons.items():
            said = [line for line in lines if f"node '{name}' (" in line]
            found = len(said) == 1 and reason in said[0] and said[0].startswith(f"error: {path}: node ")
            tally.result(f"check {name}: {reason}", None if found else f"says {said}: {outcome.stderr[-300:] if not said else ''}")
        tally.result(f"check {label} tells no more", None if len(lines) == len(reasons) else f"{len(lines)} lines")
    one_place = folder / "one_place.onnx"
    c = Cases()
    c.begin("one")
    c.y(c.op("Resize", c.x(1, 4, 1, 5), "", c.c(np.array([1, 1, 3, 1], np.float32)), mode="linear", name="grows"))
    onnx.save(c.model(), one_place)
    outcome = run([ONNXQ, "esp", "check", one_place], timeout=60)
    right = outcome.status == 1 and "node 'grows' (Resize) interpolates along a dimension of 1" in outcome.stderr
    tally.result("check simulates", None if right else f"{outcome.ended()} {outcome.stderr}")
    for bits, status in (("8", 0), ("16", 1)):
        c = Cases()
        c.begin("wide")
        c.y(c.op("Resize", c.image(), "", c.c(np.array([1, 1, 2, 2], np.float32)), mode="linear"))
        onnx.save(c.model(), one_place)
        outcome = run([ONNXQ, "esp", "check", one_place, "--bits", bits], timeout=60)
        right = outcome.status == status and ("16 bits; ESP-DL's Resize has 8 only" in outcome.stderr) == (status == 1)
        tally.result(f"check --bits {bits}", None if right else f"{outcome.ended()} {outcome.stderr}")


def notes(tally, folder):
    """Sums that are shifted to the right only, biases that don't fit, lanes of 20 bits, powers that have no float."""
    rng = np.random.default_rng(4)
    weights = rng.standard_normal((8, 3, 3, 3)).astype(np.float32)
    none, bias = 0 * weights, np.linspace(-3, 3, 8, dtype=np.float32)
    large = rng.standard_normal((8, 64, 3, 3)).astype(np.float32)

    def told(name, nodes, shape, *options, low=-1.0, high=1.0, **constants):
        graph = helper.make_graph(
            nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)], [helper.make_empty_tensor_value_info("y")],
            [numpy_helper.from_array(array, n) for n, array in constants.items()])
        path, made = folder / f"{name}.onnx", folder / f"{name}.espdl"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
        np.save(folder / "noted.npy", rng.uniform(low, high, shape).astype(np.float32))
        given = ["--data", folder / "noted.npy"] if "--table" not in options else []
        outcome = run([ONNXQ, "esp", "quantize", path, *given, "-o", made, *options], timeout=60)
        return (None if outcome.status else espdl.Model(made)), outcome.stderr

    conv = lambda *inputs: helper.make_node("Conv", inputs, ["c"], name="conv")
    relu = helper.make_node("Relu", ["c"], ["y"], name="relu")

    for chip, raised in (("esp32s3", True), ("esp32p4", True), ("esp32c3", False)):
        model, said = told("dead", [conv("x", "w"), relu], [1, 3, 6, 5], "--chip", chip, "--method", "minmax", low=0, w=-abs(weights))
        sums = model.exponents["x"][0] + max(model.constants["w"].exponents)
        wanted = sums if raised else -26
        has = "node 'conv' (Conv) gives its result the exponent" in said
        problem = None if model.exponents["y"][0] == wanted and has == raised else f"{model.exponents['y']}, not {wanted}: {said}"
        tally.result(f"sums aren't shifted to the left on the {chip}", problem)

    # The bias of weights that are all zero: kept where exponents are measured, as in the table where there is one.
    nodes = [conv("x", "w", "b"), helper.make_node("Identity", ["c"], ["y"], name="same")]
    model, said = told("zero", nodes, [1, 3, 6, 5], "--chip", "esp32p4", w=none, b=bias)
    kept = model.constants["b"].array * 2.0 ** np.array(model.constants["b"].exponents)
    tally.result("biases of no weights", None if np.abs(kept - bias).max() < 1e-3 and "clipped" not in said else f"{kept} {said}")
    table = folder / "zero.json"
    run([ONNXQ, "esp", "calibrate", folder / "zero.onnx", "--data", folder / "noted.npy", "--chip", "esp32p4", "-o", table], timeout=60)
    model, said = told("zero", nodes, [1, 3, 6, 5], "--chip", "esp32p4", "--table", table, w=none, b=bias)
    right = set(model.constants["w"].exponents) == {-26} and "has 8 of 8 biases that are clipped: they take more than 32 bits" in said
    tally.result("biases of no weights by a table", None if right else f"{model.constants['w'].exponents} {said}")

    for chip, array, wide in (("esp32s3", large, True), ("esp32p4", large, False), ("esp32s3", weights[:, :1, :1, :1], False)):
        _, said = told("lanes", [conv("x", "w"), relu], [1, array.shape[1], 6, 5], "--chip", chip, w=array)
        has = "sums of 1 of 1 layers can leave the 20 bits of the esp32s3's lanes" in said
        tally.result(f"lanes of the {chip}, {array.shape[1]} channels", None if has == wide else said)
    _, said = told("lanes", [conv("x", "w"), relu], [1, 64, 6, 5], "--quiet", w=large)
    tally.result("--quiet notes nothing", None if not said else said)

    for high, kind in ((20, "S8"), (200, "S16")):
        model, said = told("softmax", [helper.make_node("Softmax", ["x"], ["y"], name="softmax", axis=1)], [1, 40],
                           "--method", "minmax", low=-high, high=high)
        found = {node.op: node.attributes["quant_type"] for node in model.nodes}
        right = found["Softmax"] == kind and ("'softmax' (Softmax) has 16 bits" in said) == (kind == "S16")
        tally.result(f"softmax of {high}", None if right else f"{found} {said}")


def doubts(tally, folder):
    """Files that run here, but that the device refuses or takes otherwise than they look."""
    def evaluate(name, op, inputs, exponents, to, *options, **attributes):
        m = esp_files.Model("esp32s3")
        for index, exponent in enumerate(exponents):
            m.inputs.append(m.value(f"x{index}", np.int8, (1, 2, 2, 16), exponent))
        m.constants["w"] = esp_files.constant(np.ones((1, 1, 16, 16), np.int8), -3, layout="(N/16)HWC16")
        m.outputs.append(m.value("y", np.int8, (1, 2 * (1 + (op == "Concat")), 2, 16), to))
        m.node(op, inputs, ["y"], quant_type="S8", **attributes)
        m.tests = {name: np.zeros(m.shapes[name], np.int8) for name in (*m.inputs, "y")}
        path = folder / f"{name}.espdl"
        path.write_bytes(m.bytes())
        return run([ONNXQ, "esp", "evaluate", path, "--test-values", *options], timeout=60)

    for name, given, said in (
        ("joined", ("Concat", ["x0", "x1"], (-3, -5), -3), "copies 'x1', whose exponent is -5, to 'y' with the exponent -3"),
        ("joined_alike", ("Concat", ["x0", "x1"], (-3, -3), -3), ""),
        ("moved", ("Transpose", ["x0"], (-3,), -2), "copies 'x0', whose exponent is -3, to 'y' with the exponent -2"),
        ("shifted", ("Conv", ["x0", "w"], (-3,), -7), "shifts its sums to the left, which kernels of the esp32s3 refuse"),
        ("shifted_right", ("Conv", ["x0", "w"], (-3,), -6), ""),
    ):
        more = {"axis": 1} if given[0] == "Concat" else {"perm": [0, 2, 1, 3]} if given[0] == "Transpose" else {}
        outcome = evaluate(name, *given, **more)
        right = outcome.status == 0 and (said in outcome.stderr if said else not outcome.stderr)
        tally.result(f"doubts of {name}", None if right else f"{outcome.ended()} {outcome.stderr}")
