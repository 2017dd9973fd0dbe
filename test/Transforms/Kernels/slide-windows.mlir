// Depthwise convolutions without strides: 32 registers hold the weights of all
// taps while rows of the output are summed. Sums that a bias is added to begin
// with a product, others with zero.

// AArch64: a turn has three rows of four columns of nine products, and loads
// nothing but three rows of six elements.
// RUN: onnxq compile %s -o %t.arm.s --target aarch64
// RUN: awk '/^\.L.*:/ { loads = sums = first = 0 } /ldr\tq/ { ++loads } /fmul/ { ++first } /fmla/ { ++sums } /\tb\./ && sums > 0 { print "turn of " first " products, " sums " sums, " loads " loads" }' %t.arm.s | FileCheck %s --check-prefix=ARM
// ARM: turn of 12 products, 96 sums, 18 loads

// RISC-V: a turn has four rows of one column, of two registers each. It begins
// with multiply-adds by the element that the turn before has loaded. All
// pointers move on at its end.
// RUN: onnxq compile %s -o %t.rv.s --target riscv64+v --cpu spacemit-x60
// RUN: awk '/^\.L.*:/ { loads = sums = early = moves = others = first = 0 } /vle32/ { ++loads } /vfmul/ { ++first } /vfm(acc|add)/ { if (!sums++) early = loads } /\tadd\t/ { ++moves; if (sums < 26) ++others } /vmv|\(sp\)|vl[0-9]r/ { ++others } /\tbnez\t/ && sums > 0 { print "turn of " first " products, " sums " sums, " loads " loads, " early " before the first, " moves " moves, " others " others" }' %t.rv.s | FileCheck %s --check-prefix=RV
// RV: turn of 4 products, 32 sums, 12 loads, 0 before the first, 16 moves, 0 others

func.func @main_graph(%x: tensor<1x32x40x40xf32>, %b: tensor<32xf32>) -> tensor<1x32x40x40xf32> {
  %w = onnx.Constant dense<0.5> : tensor<32x1x3x3xf32>
  %y = "onnx.Conv"(%x, %w, %b) {auto_pad = "NOTSET", group = 32 : si64, pads = [1, 1, 1, 1]} : (tensor<1x32x40x40xf32>, tensor<32x1x3x3xf32>, tensor<32xf32>) -> tensor<1x32x40x40xf32>
  onnx.Return %y : tensor<1x32x40x40xf32>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
