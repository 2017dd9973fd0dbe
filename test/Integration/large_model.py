#!/usr/bin/python3
"""A model with 3 GB of external weights: described quickly, passed through in little memory.

The weights are a sparse file with a few different values in every tensor, so
that making it costs nothing and a mixed-up tensor is seen.
"""

import pathlib
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper

from support import harness

LAYERS = 24
WIDTH = 5792  # 128 MiB of f32 per weight, nearly
BYTES = WIDTH * WIDTH * 4
INFO_SECONDS, INFO_MEGABYTES = 2.0, 300
COPY_MEGABYTES = 512
CHUNK = 32 << 20


def external(name, offset):
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[WIDTH, WIDTH])
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "weights.data"), ("offset", offset), ("length", BYTES)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def write_model(folder):
    weights, nodes, value = [], [], "x"
    with open(folder / "weights.data", "wb") as file:
        file.truncate(LAYERS * BYTES)
        for layer in range(LAYERS):
            weights.append(external(f"w{layer}", layer * BYTES))
            for place in (0, BYTES // 2 // 4 * 4, BYTES - 4096):
                file.seek(layer * BYTES + place)
                file.write(numpy.full(1024, layer + place / BYTES + 1, dtype=numpy.float32).tobytes())
            nodes.append(helper.make_node("MatMul", [value, f"w{layer}"], [f"h{layer}"], name=f"layer{layer}"))
            value = f"h{layer}"
    graph = helper.make_graph(
        nodes,
        "large",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])],
        [helper.make_tensor_value_info(value, TensorProto.FLOAT, ["batch", WIDTH])],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, str(folder / "model.onnx"))
    return folder / "model.onnx"


def limits(outcome, seconds, megabytes):
    if outcome.status:
        return f"{outcome.ended()}: {outcome.stderr.strip()[:300]}"
    if seconds and outcome.seconds >= seconds:
        return f"expects less than {seconds} s, but got {outcome.seconds:.2f} s"
    if outcome.megabytes >= megabytes:
        return f"expects less than {megabytes} MB resident, but got {outcome.megabytes:.0f} MB"
    return None


def places(path):
    """{tensor name: (file, offset, length)} of a model's external tensors."""
    model = onnx.load(str(path), load_external_data=False)
    found = {}
    for tensor in model.graph.initializer:
        entry = {item.key: item.value for item in tensor.external_data}
        if "location" in entry:
            length = int(entry.get("length", BYTES))
            found[tensor.name] = (path.parent / entry["location"], int(entry.get("offset", 0)), length)
    return found


def unequal(one, other):
    (file_a, offset_a, length_a), (file_b, offset_b, length_b) = one, other
    if length_a != length_b:
        return f"expects {length_a} bytes, but got {length_b}"
    if not file_b.is_file():
        return f"{file_b.name} was not written"
    with open(file_a, "rb") as a, open(file_b, "rb") as b:
        a.seek(offset_a)
        b.seek(offset_b)
        for start in range(0, length_a, CHUNK):
            size = min(CHUNK, length_a - start)
            if a.read(size) != b.read(size):
                return f"differs within {size} bytes after byte {start}"
    return None


def main():
    harness.require_tools()
    tally = harness.Tally()
    with tempfile.TemporaryDirectory(prefix="onnxq-large-") as temporary:
        folder = pathlib.Path(temporary)
        model = write_model(folder)

        outcome = harness.run([harness.ONNXQ, "info", model])
        print(f"info: {outcome.seconds:.2f} s, {outcome.megabytes:.0f} MB")
        tally.result("info", limits(outcome, INFO_SECONDS, INFO_MEGABYTES))

        (folder / "out").mkdir()
        out = folder / "out" / "model.onnx"
        outcome = harness.run([harness.OPT, model, "-o", out, "--external-data"], timeout=300)
        print(f"import and export: {outcome.seconds:.2f} s, {outcome.megabytes:.0f} MB")
        problem = limits(outcome, None, COPY_MEGABYTES)
        tally.result("import and export", problem)
        if outcome.status == 0:
            before, after = places(model), places(out)
            for name, place in before.items():
                missing = None if name in after else "not among the exported external tensors"
                tally.result(f"weight {name}", missing or unequal(place, after[name]))
    tally.finish()


if __name__ == "__main__":
    main()
