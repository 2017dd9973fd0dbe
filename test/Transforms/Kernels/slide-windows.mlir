// Depthwise convolutions without strides: 32 registers hold the weights of all
// taps while three rows of four columns are summed, so that a turn has 3 * 4 * 9
// products, and loads nothing but 3 * 6 elements. Sums that a bias is added to
// begin with a product, others with zero.

// RUN: onnxq compile %s -o %t.arm.s --target aarch64
// RUN: awk '/^\.L.*:/ { loads = sums = first = 0 } /ldr\tq/ { ++loads } /fmul/ { ++first } /fmla/ { ++sums } /\tb\./ && sums > 0 { print "turn of " first " products, " sums " sums, " loads " loads" }' %t.arm.s | FileCheck %s
// RUN: onnxq compile %s -o %t.rv.s --target riscv64+v
// RUN: awk '/^\.L.*:/ { loads = sums = first = 0 } /vle32/ { ++loads } /vfmul/ { ++first } /vfm(acc|add)/ { ++sums } /\tb/ && sums > 0 { print "turn of " first " products, " sums " sums, " loads " loads" }' %t.rv.s | FileCheck %s

// CHECK: turn of 12 products, 96 sums, 18 loads

func.func @main_graph(%x: tensor<1x16x40x40xf32>, %b: tensor<16xf32>) -> tensor<1x16x40x40xf32> {
  %w = onnx.Constant dense<0.5> : tensor<16x1x3x3xf32>
  %y = "onnx.Conv"(%x, %w, %b) {auto_pad = "NOTSET", group = 16 : si64, pads = [1, 1, 1, 1]} : (tensor<1x16x40x40xf32>, tensor<16x1x3x3xf32>, tensor<16xf32>) -> tensor<1x16x40x40xf32>
  onnx.Return %y : tensor<1x16x40x40xf32>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
