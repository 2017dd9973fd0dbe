#!/usr/bin/python3
"""Ops of the newest form, and the lowest opset and node that each is exported as.

    downgrade_ops.py DIR

Each case is one op in a module that allows every opset. What comes out is compared
with the node that the case names: operator, number of inputs and some attributes. The
ONNX checker tells whether the operator had all of its attributes in that opset.
"""

import pathlib
import subprocess
import sys

import onnx
from onnx import helper

CASES = []
NONE = '%none = "onnx.NoValue"() {value} : () -> none'
TYPES = {
    "x": "tensor<2x3x4x5xf32>",
    "z": "tensor<2x3x4x5xf32>",
    "row": "tensor<5xf32>",
    "channels": "tensor<3xf32>",
    "one": "tensor<1xf32>",
    "m": "tensor<2x3xf32>",
    "h": "tensor<2x3x4x5xf16>",
    "b": "tensor<2x3x4x5xbf16>",
    "int": "tensor<2x3x4x5xi32>",
    "any": "tensor<*xf32>",
    "dyn": "tensor<?x3xf32>",
    "index": "tensor<2xi64>",
    "none": "none",
}


def case(opset, op, operands, attributes="", results="tensor<*xf32>", node=None, **constants):
    """The op comes out at `opset` as `node`: `"Clip 1 max min"` is a Clip of one input
    with these attributes, and perhaps others. A constant is given as `name="dense<0> : tensor<1xi64>"`."""
    CASES.append((opset, op, operands.split(), attributes, results, node, constants))


def text_of(op, operands, attributes, results, constants):
    types = dict(TYPES, **{name: c.split(" : ")[1] for name, c in constants.items()})
    arguments = ", ".join(
        f'%{n}: {t} {{onnx.name = "{n}"}}' for n, t in TYPES.items() if n in operands and n != "none"
    )
    lines = [f"%{n} = onnx.Constant {c}" for n, c in constants.items()]
    names = ", ".join(f"%{o}" for o in operands)
    inputs = ", ".join(types[o] for o in operands)
    count = results.count("tensor") + results.count("none")
    lines.append(f'%y:{count} = "onnx.{op}"({names}) {{{attributes}}} : ({inputs}) -> ({results})')
    first = results.split(", ")[0]
    body = "\n    ".join([NONE] + lines)
    return f"""module attributes {{onnx.opsets = {{ai.onnx = 1 : i64}}}} {{
  func.func @main_graph({arguments}) -> {first} {{
    {body}
    onnx.Return %y#0 : {first}
  }}
  "onnx.EntryPoint"() {{func = @main_graph}} : () -> ()
}}
"""


SI = " : si64"
AXES = "dense<[1]> : tensor<1xi64>"
NEGATIVE = "dense<[-1]> : tensor<1xi64>"

# Elementwise.
case(1, "Relu", "x", node="Relu 1")
case(13, "Relu", "b", results="tensor<*xbf16>", node="Relu 1")
case(14, "Relu", "int", results="tensor<*xi32>", node="Relu 1")
case(1, "Add", "x z", node="Add 2")
case(1, "Add", "x row", node="Add 2 broadcast")
case(1, "Add", "x one", node="Add 2 broadcast")
case(7, "Add", "row x", node="Add 2")
case(7, "Add", "any row", node="Add 2")
case(1, "Sum", "x z", node="Sum 2")
case(8, "Sum", "x row", node="Sum 2")
case(1, "Clip", "x lo none", node="Clip 1 min", lo="dense<0.0> : tensor<f32>")
case(11, "Clip", "x one none", node="Clip 2")
case(12, "Clip", "int none none", results="tensor<*xi32>", node="Clip 1")
case(1, "Cast", "x", "to = f64", "tensor<*xf64>", node="Cast 1 to")
case(13, "Cast", "x", "to = bf16", "tensor<*xbf16>", node="Cast 1 to")
case(19, "Cast", "x", "to = f8E4M3FN", "tensor<*xf8E4M3FN>", node="Cast 1 to")
case(19, "Cast", "x", f"saturate = 0{SI}, to = f64", "tensor<*xf64>", node="Cast 1 saturate to")
case(1, "Selu", "x", node="Selu 1 alpha gamma")
case(1, "PRelu", "x one", node="PRelu 2")
case(7, "PRelu", "x row", node="PRelu 2")
case(12, "Pow", "x int", node="Pow 2")
case(9, "Gelu", "x", results="tensor<2x3x4x5xf32>", node="Div 2")
case(20, "Gelu", "any", node="Gelu 1")
case(1, "HardSwish", "x", results="tensor<2x3x4x5xf32>", node="HardSigmoid 1 alpha beta")
case(1, "Mish", "x", results="tensor<2x3x4x5xf32>", node="Softplus 1")
case(22, "Cos", "b", results="tensor<*xbf16>", node="Cos 1")

# Tensors.
case(1, "Concat", "x z", f"axis = -1{SI}", node="Concat 2 axis")
case(11, "Concat", "any", f"axis = -1{SI}", node="Concat 1 axis")
case(1, "Squeeze", "any a", node="Squeeze 1 axes", a=AXES)
case(11, "Squeeze", "any a", node="Squeeze 1 axes", a=NEGATIVE)
case(13, "Squeeze", "any index", node="Squeeze 2")
case(1, "Unsqueeze", "x a", node="Unsqueeze 1 axes", a=NEGATIVE)
case(1, "Reshape", "x s", node="Reshape 1 shape", s="dense<[2, -1]> : tensor<2xi64>")
case(5, "Reshape", "x index", node="Reshape 2")
case(14, "Reshape", "x index", f"allowzero = 1{SI}", node="Reshape 2 allowzero")
case(1, "Slice", "x s e none none", node="Slice 1 ends starts",
     s="dense<0> : tensor<4xi64>", e="dense<1> : tensor<4xi64>")
case(10, "Slice", "x s e a t", node="Slice 5", s=AXES, e=AXES, a=AXES, t="dense<2> : tensor<1xi64>")
case(11, "Slice", "x s e a none", node="Slice 4", s=AXES, e=AXES, a=NEGATIVE)
case(1, "Split", "x p", f"axis = 1{SI}", "tensor<*xf32>, tensor<*xf32>", node="Split 1 axis split",
     p="dense<[1, 2]> : tensor<2xi64>")
case(1, "Split", "x none", f"axis = 0{SI}, num_outputs = 2{SI}", "tensor<*xf32>, tensor<*xf32>",
     node="Split 1 axis")
case(18, "Split", "x none", f"axis = 1{SI}, num_outputs = 2{SI}", "tensor<*xf32>, tensor<*xf32>",
     node="Split 1 axis num_outputs")
PADS = "dense<1> : tensor<8xi64>"
case(1, "Pad", "x p none none", node="Pad 1 paddings", p=PADS)
case(18, "Pad", "x p none a", node="Pad 4", p="dense<1> : tensor<2xi64>", a=AXES)
case(19, "Pad", "x p none none", 'mode = "wrap"', node="Pad 2 mode", p=PADS)
case(6, "Tile", "m r", node="Tile 2", r="dense<2> : tensor<2xi64>")
case(1, "Shape", "x", results="tensor<4xi64>", node="Shape 1")
case(15, "Shape", "x", f"start = 1{SI}", "tensor<3xi64>", node="Shape 1 start")
case(1, "Gather", "x i", node="Gather 2", i=AXES)
case(11, "Gather", "x i", node="Gather 2", i=NEGATIVE)
case(9, "ScatterElements", "row i one", node="Scatter 3", i=AXES)
case(16, "ScatterElements", "row i one", 'reduction = "add"', node="ScatterElements 3 reduction", i=AXES)
case(18, "ScatterElements", "row i one", 'reduction = "max"', node="ScatterElements 3 reduction", i=AXES)
case(11, "DepthToSpace", "t", f'blocksize = 2{SI}, mode = "CRD"', node="DepthToSpace 1 blocksize mode",
     t="dense<1.0> : tensor<1x4x2x2xf32>")
ROI = "dense<> : tensor<0xf32>"
TWICE = "dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>"
HALF = "dense<[1.0, 1.0, 0.5, 2.0]> : tensor<4xf32>"
NEAREST = 'coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"'
case(1, "Resize", "x r s none", NEAREST, node="Upsample 1 height_scale width_scale", r=ROI, s=TWICE)
case(10, "Resize", "x r s none", NEAREST, node="Resize 2", r=ROI, s=HALF)
case(11, "Resize", "x r s none", 'nearest_mode = "floor"', node="Resize 3 nearest_mode", r=ROI, s=TWICE)
case(13, "Resize", "x none s none", node="Resize 3", s=TWICE)
case(18, "Resize", "x none s none", f'mode = "linear", antialias = 1{SI}', node="Resize 3 antialias mode", s=TWICE)
case(19, "Resize", "x none s none", 'coordinate_transformation_mode = "half_pixel_symmetric"',
     node="Resize 3 coordinate_transformation_mode", s=TWICE)

# Layers and reductions.
case(1, "Softmax", "x", f"axis = 3{SI}", node="Softmax 1 axis")
case(1, "Softmax", "x", node="Softmax 1 axis")
case(11, "Softmax", "any", node="Softmax 1 axis")
case(13, "Softmax", "x", f"axis = 1{SI}", node="Softmax 1 axis")
case(1, "BatchNormalization", "x channels channels channels channels", results="tensor<*xf32>, none, none",
     node="BatchNormalization 5 consumed_inputs is_test")
case(1, "Dropout", "x r none", results="tensor<*xf32>, none", node="Dropout 1 is_test ratio",
     r="dense<0.25> : tensor<f32>")
case(12, "Dropout", "x none t", results="tensor<*xf32>, none", node="Dropout 3", t="dense<true> : tensor<i1>")
K = "kernel_shape = [2, 2]"
case(1, "MaxPool", "x", K, "tensor<*xf32>, none", node="MaxPool 1 kernel_shape")
case(10, "MaxPool", "x", f"{K}, ceil_mode = 1{SI}", "tensor<*xf32>, none", node="MaxPool 1 ceil_mode kernel_shape")
case(7, "AveragePool", "x", f"{K}, count_include_pad = 1{SI}", node="AveragePool 1 count_include_pad kernel_shape")
case(19, "AveragePool", "x", f"{K}, dilations = [2, 2]", node="AveragePool 1 dilations kernel_shape")
case(1, "LpPool", "x", f"{K}, p = 3{SI}", node="LpPool 1 kernel_shape p")
case(18, "LpPool", "x", f"{K}, ceil_mode = 1{SI}", node="LpPool 1 ceil_mode kernel_shape")
case(1, "ReduceMean", "x a", node="ReduceMean 1 axes", a=NEGATIVE)
case(18, "ReduceMean", "x index", node="ReduceMean 2")
case(13, "ReduceSum", "x index", node="ReduceSum 2")
case(18, "ReduceMean", "x none", f"noop_with_empty_axes = 1{SI}", node="ReduceMean 1 noop_with_empty_axes")
NAMED = 'onnx_result_names = ["v", "i"]'
case(12, "ArgMax", "x", f"select_last_index = 1{SI}", "tensor<*xi64>", node="ArgMax 1 select_last_index")
case(1, "TopK", "x k", NAMED, "tensor<*xf32>, tensor<*xi64>", node="TopK 1 k", k="dense<2> : tensor<1xi64>")
case(11, "TopK", "x k", f"{NAMED}, largest = 0{SI}", "tensor<*xf32>, tensor<*xi64>", node="TopK 2 largest",
     k="dense<2> : tensor<1xi64>")

# The rest.
W = "dense<1.0> : tensor<3x4xf32>"
case(11, "Gemm", "m w none", node="Gemm 2", w=W)
case(1, "Gemm", "m w c", results="tensor<2x4xf32>", node="Gemm 3 broadcast", w=W, c="dense<1.0> : tensor<4xf32>")
ZERO = "dense<3> : tensor<ui8>"
SCALE = "dense<0.5> : tensor<f32>"
case(10, "QuantizeLinear", "x s q", results="tensor<*xui8>", node="QuantizeLinear 3", s=SCALE, q=ZERO)
case(13, "QuantizeLinear", "x channels q", results="tensor<*xui8>", node="QuantizeLinear 3",
     q="dense<3> : tensor<3xui8>")
case(19, "QuantizeLinear", "h s q", results="tensor<*xui8>", node="QuantizeLinear 3", q=ZERO,
     s="dense<0.5> : tensor<f16>")
case(21, "QuantizeLinear", "x s q", results="tensor<*xi16>", node="QuantizeLinear 3", s=SCALE,
     q="dense<3> : tensor<i16>")
case(10, "DequantizeLinear", "q s none", node="DequantizeLinear 2", s=SCALE, q=ZERO)
case(21, "DequantizeLinear", "q s none", node="DequantizeLinear 2", s=SCALE, q="dense<3> : tensor<3xi4>")


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True)


def context(opset):
    checking = onnx.checker.C.CheckerContext()
    checking.ir_version = 8
    checking.opset_imports = {"": opset}
    return checking


def check(folder, index, opset, op, operands, attributes, results, node, constants):
    source = folder / f"{index}.mlir"
    text = text_of(op, operands, attributes, results, constants)
    source.write_text(text)
    target = folder / f"{index}.onnx"
    export = run("onnxq-opt", source, "-o", target)
    if export.returncode:
        return f"isn't exported\n{text}{export.stderr}"
    model = onnx.load(target)
    version = [o.version for o in model.opset_import if o.domain in ("", "ai.onnx")][0]
    if version != opset:
        return f"is exported at opset {version}, not {opset}\n{text}"
    out = model.graph.node[0]
    operator, inputs, *expected = node.split()
    missing = set(expected) - {a.name for a in out.attribute}
    if (operator, int(inputs)) != (out.op_type, len(out.input)) or missing:
        return f"becomes '{helper.printable_node(out)}', not '{node}'"
    if opset <= 17:
        try:
            onnx.checker.check_node(out, context(opset))
        except onnx.checker.ValidationError as error:
            return f"fails the checker: {error}"
    return ""


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for index, (opset, op, *rest) in enumerate(CASES):
        problem = check(folder, index, opset, op, *rest)
        if problem:
            failed += 1
            print(f"{index} {op}: {problem}")
    print(f"{len(CASES) - failed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
