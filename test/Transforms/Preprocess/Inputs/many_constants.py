"""Graphs that a folder could spend minutes on, as MLIR text.

    many_constants.py fills|chain COUNT

fills: weights that are filled, widened, turned and scaled, each of its own shape.
chain: one constant through COUNT square roots.
"""

import sys


def fills(count):
    for i in range(count):
        n = i + 1
        yield f'%s{i} = onnx.Constant dense<[{n}, 2]> : tensor<2xi64>'
        yield (f'%f{i} = "onnx.ConstantOfShape"(%s{i}) {{value = dense<0.5> : tensor<1xf16>}} '
               f': (tensor<2xi64>) -> tensor<{n}x2xf16>')
        yield f'%c{i} = "onnx.Cast"(%f{i}) {{to = f32}} : (tensor<{n}x2xf16>) -> tensor<{n}x2xf32>'
        yield f'%t{i} = "onnx.Transpose"(%c{i}) {{perm = [1, 0]}} : (tensor<{n}x2xf32>) -> tensor<2x{n}xf32>'
        yield f'%m{i} = "onnx.Mul"(%t{i}, %t{i}) : (tensor<2x{n}xf32>, tensor<2x{n}xf32>) -> tensor<2x{n}xf32>'
        yield f'%y{i} = "onnx.Add"(%x, %m{i}) : (tensor<1x1xf32>, tensor<2x{n}xf32>) -> tensor<2x{n}xf32>'
    yield f'onnx.Return %y{count - 1} : tensor<2x{count}xf32>'


def chain(count):
    yield '%v0 = onnx.Constant dense<[3.0, 5.0]> : tensor<2xf32>'
    for i in range(count):
        yield f'%v{i + 1} = "onnx.Sqrt"(%v{i}) : (tensor<2xf32>) -> tensor<2xf32>'
    yield f'%y = "onnx.Add"(%x, %v{count}) : (tensor<1x1xf32>, tensor<2xf32>) -> tensor<1x2xf32>'
    yield 'onnx.Return %y : tensor<1x2xf32>'


kind, count = sys.argv[1], int(sys.argv[2])
result = f'2x{count}' if kind == "fills" else "1x2"
print(f'func.func @main_graph(%x: tensor<1x1xf32>) -> tensor<{result}xf32> {{')
print("\n".join("  " + line for line in globals()[kind](count)))
print("}")
