#!/usr/bin/python3
"""Tensors of every element type in every form of storage, taken there and back.

    element_types.py DIR

The bytes that come out must be those that went in, through ONNX alone and through
MLIR's text and bytecode.
"""

import pathlib
import random
import struct
import subprocess
import sys

import onnx
from onnx import TensorProto, helper

# ONNX's number, bits per element, the typed field and how that holds an element.
TYPES = {
    "float": (1, 32, "float_data", "<f"), "uint8": (2, 8, "int32_data", "<B"), "int8": (3, 8, "int32_data", "<b"),
    "uint16": (4, 16, "int32_data", "<H"), "int16": (5, 16, "int32_data", "<h"), "int32": (6, 32, "int32_data", "<i"),
    "int64": (7, 64, "int64_data", "<q"), "bool": (9, 8, "int32_data", "<B"), "float16": (10, 16, "int32_data", "<H"),
    "double": (11, 64, "double_data", "<d"), "uint32": (12, 32, "uint64_data", "<I"),
    "uint64": (13, 64, "uint64_data", "<Q"), "complex64": (14, 64, "float_data", "<f"),
    "complex128": (15, 128, "double_data", "<d"), "bfloat16": (16, 16, "int32_data", "<H"),
    "float8e4m3fn": (17, 8, "int32_data", "<B"), "float8e4m3fnuz": (18, 8, "int32_data", "<B"),
    "float8e5m2": (19, 8, "int32_data", "<B"), "float8e5m2fnuz": (20, 8, "int32_data", "<B"),
    "uint4": (21, 4, "int32_data", "<B"), "int4": (22, 4, "int32_data", "<B"), "float4e2m1": (23, 4, "int32_data", "<B"),
    "float8e8m0": (24, 8, "int32_data", "<B"),
}
# Below and above what is copied into an attribute; odd, so that half a byte is left over.
SHAPES = {"empty": [0], "scalar": [], "small": [3, 5], "large": [33, 127]}
# Forms of storage, and by which files each is taken back to ONNX.
FORMS = {
    "raw": [["back.onnx"], ["mlir", "text.onnx"], ["mlirbc", "bytecode.onnx"]],
    "typed": [["back.onnx"]],
    "external": [["back.onnx"]],
}


def count(dims):
    total = 1
    for dim in dims:
        total *= dim
    return total


def content(name, dims):
    """Bytes that every type can hold; typed floats go without NaN, which Python doesn't keep."""
    code, bits, *_ = TYPES[name]
    generator = random.Random(code * 7 + len(dims))
    size = (count(dims) * bits + 7) // 8
    if name == "bool":
        return bytes(generator.randrange(2) for _ in range(size))
    data = bytearray(generator.randrange(256) for _ in range(size))
    if bits == 4 and count(dims) % 2:
        data[-1] &= 15
    if name in ("float", "double", "complex64", "complex128"):
        width = struct.calcsize(TYPES[name][3])
        for last in range(width - 1, size, width):
            data[last] &= 0xBF  # no exponent of all ones
    return bytes(data)


def build(dims, form, path):
    """Writes a model with a tensor of each type, and returns their bytes."""
    graph = helper.make_graph([], "g", [], [])
    contents = {name: content(name, dims) for name in TYPES}
    file = bytearray(b"before")
    for name, data in contents.items():
        code, bits, field, layout = TYPES[name]
        tensor = graph.initializer.add(name=name, data_type=code, dims=dims)
        if form == "raw":
            tensor.raw_data = data
        elif form == "typed":
            getattr(tensor, field).extend(value for value, in struct.iter_unpack(layout, data))
        else:
            file.extend(bytes(-len(file) % 64))
            tensor.data_location = TensorProto.EXTERNAL
            for key, value in (("location", path.stem + ".bin"), ("offset", len(file)), ("length", len(data))):
                tensor.external_data.add(key=key, value=str(value))
            file.extend(data)
    path.with_suffix(".bin").write_bytes(file + b"after")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    model.ir_version = 10
    path.write_bytes(model.SerializeToString())
    return contents


def there_and_back(path, way):
    for extension in way:
        target = path.with_suffix("." + extension)
        done = subprocess.run(["onnxq-opt", path, "-o", target], capture_output=True, text=True)
        if done.returncode:
            print(f"{path.name}: {done.stderr}")
            return {}
        path = target
    return {tensor.name: tensor for tensor in onnx.load(str(path), load_external_data=False).graph.initializer}


def problem(tensor, name, dims, data):
    if tensor is None:
        return "doesn't come back"
    if (tensor.data_type, list(tensor.dims)) != (TYPES[name][0], dims):
        return f"comes back as {tensor.data_type} {list(tensor.dims)}"
    return "" if tensor.raw_data == data else "comes back with other bytes"


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    passed = failed = 0
    for size, dims in SHAPES.items():
        for form, ways in FORMS.items():
            path = folder / f"{size}-{form}.onnx"
            contents = build(dims, form, path)
            for way in ways:
                tensors = there_and_back(path, way)
                for name, data in contents.items():
                    found = problem(tensors.get(name), name, dims, data)
                    passed, failed = passed + (not found), failed + bool(found)
                    if found:
                        print(f"{name} {size} {form} by {way[0]}: {found}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
