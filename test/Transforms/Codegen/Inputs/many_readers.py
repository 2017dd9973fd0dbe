"""A function of one input that COUNT elementwise ops read, as MLIR text."""

import sys

count = int(sys.argv[1])
print("#map = affine_map<(d0) -> (d0)>")
print("func.func @readers(%x: tensor<4xf32> {bufferization.writable = false}) {")
print("  %e = tensor.empty() : tensor<4xf32>")
for i in range(count):
    print(
        f'  %{i} = linalg.generic {{indexing_maps = [#map, #map], iterator_types = ["parallel"]}} '
        "ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {\n"
        "  ^bb0(%in: f32, %out: f32):\n    linalg.yield %in : f32\n  } -> tensor<4xf32>"
    )
print("  return\n}")
