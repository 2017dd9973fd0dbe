// Depthwise convolutions of bytes: widening multiply-adds, and results that an
// addition rounds, where conversions take several cycles (AArch64) or change
// the rounding mode (RISC-V).

// RUN: onnxq compile %s -o %t.arm.s --target aarch64 && FileCheck %s --check-prefix=NEON < %t.arm.s
// RUN: onnxq compile %s -o %t.rv.s --target riscv64+v && FileCheck %s --check-prefix=RVV < %t.rv.s

// NEON-NOT: frintn
// NEON: smlal2
// NEON-NOT: frintn
// RVV-NOT: {{fsrm|vmacc.vv}}
// RVV: vwmacc.vv
// RVV-NOT: {{fsrm|vmacc.vv}}

func.func @main_graph(%x: tensor<1x32x40x40xui8>) -> tensor<1x32x40x40xui8> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<5> : tensor<32x1x3x3xi8>
  %xs = onnx.Constant dense<0.5> : tensor<f32>
  %xz = onnx.Constant dense<128> : tensor<ui8>
  %ws = onnx.Constant dense<0.3> : tensor<f32>
  %wz = onnx.Constant dense<0> : tensor<i8>
  %ys = onnx.Constant dense<0.7> : tensor<f32>
  %yz = onnx.Constant dense<3> : tensor<ui8>
  %y = "onnx.QLinearConv"(%x, %xs, %xz, %w, %ws, %wz, %ys, %yz, %none) {auto_pad = "NOTSET", group = 32 : si64, pads = [1, 1, 1, 1]} : (tensor<1x32x40x40xui8>, tensor<f32>, tensor<ui8>, tensor<32x1x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<1x32x40x40xui8>
  onnx.Return %y : tensor<1x32x40x40xui8>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
