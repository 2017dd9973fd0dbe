// RISC-V: what a product multiplies is loaded before the product in front of it,
// so that a turn begins with multiply-adds by what the one before has loaded. A
// turn has four products of six rows; each row has a pointer that moves on once.

// RUN: onnxq compile %s -o %t.s --target riscv64+v --cpu spacemit-x60
// RUN: awk '/^\.L.*:/ { loads = sums = moves = first = 0 } /fl[wd]|lh\t/ { ++loads } /vfmacc.vf|vwmacc.vx/ { if (!sums++) first = loads; kind = $1 } /addi\t[a-z0-9]+, [a-z0-9]+, (8|16)$/ { ++moves } /\tb(ne|nez)\t/ && sums > 6 { print kind ": " sums " sums, " loads " elements, " first " before the first, " moves " pointers" }' %t.s | FileCheck %s

// CHECK-DAG: vfmacc.vf: 24 sums, 24 elements, 0 before the first, 6 pointers
// CHECK-DAG: vwmacc.vx: 24 sums, 24 elements, 0 before the first, 6 pointers

func.func @main_graph(%x: tensor<60x512xf32>, %i: tensor<60x512xui8>) -> (tensor<60x256xf32>, tensor<60x256xi32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<0.5> : tensor<512x256xf32>
  %y = "onnx.MatMul"(%x, %w) : (tensor<60x512xf32>, tensor<512x256xf32>) -> tensor<60x256xf32>
  %v = onnx.Constant dense<64> : tensor<512x256xi8>
  %z = "onnx.MatMulInteger"(%i, %v, %none, %none) : (tensor<60x512xui8>, tensor<512x256xi8>, none, none) -> tensor<60x256xi32>
  onnx.Return %y, %z : tensor<60x256xf32>, tensor<60x256xi32>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
